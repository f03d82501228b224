"""The deep tree of the play, compiled: replies to an opponent that plays as a policy of `game.policies` does."""
