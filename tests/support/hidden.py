"""Games with all that a player cannot see exchanged."""

from __future__ import annotations

import copy

import numpy as np

from deepcrib.game.engine import Games


def shuffled_behind(games: Games, seats: np.ndarray, rng: np.random.Generator) -> Games:
    """The same games with every card that seat `seats[i]` of game i cannot see exchanged at random.

    What stays: its own cards, the starter once turned up and all cards laid. Whatever else the engine holds,
    the others' hands, their discards, the crib, the deck, is drawn anew from the cards not seen.
    """
    other = copy.deepcopy(games)
    every = np.arange(len(games))
    new_card = np.tile(np.append(np.arange(52), -1).astype(np.int8), (len(games), 1))  # the last for -1, no card
    for row, seat in enumerate(seats):
        seen = np.concatenate(
            [games.state.dealt[row, seat], games.state.history[row], games.state.starter[row : row + 1]]
        )
        unseen = np.setdiff1d(np.arange(52), seen)
        new_card[row, unseen] = rng.permutation(unseen)
    for name in ("dealt", "kept", "left", "discards", "crib", "hidden"):
        cards = other.state[name]
        cards[...] = new_card[every.reshape(-1, *[1] * (cards.ndim - 1)), cards]
    assert (other.state.dealt[every, seats] == games.state.dealt[every, seats]).all()
    return other
