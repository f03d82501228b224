"""Who beats whom: tournaments, brackets, ratings, and the league that is kept by pairing."""
