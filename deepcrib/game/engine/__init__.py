"""Many games of cribbage side by side: dealing, discarding, playing, showing and the stop at 121."""

from deepcrib.game.engine.games import DEALING, Games, IllegalActionError
from deepcrib.game.engine.turns import Turns

__all__ = ["DEALING", "Games", "IllegalActionError", "Turns"]
