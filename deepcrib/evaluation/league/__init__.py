"""Who beats whom: tournaments, ratings, and the league that is kept by pairing."""
