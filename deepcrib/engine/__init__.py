"""Many games of cribbage side by side: dealing, discarding, playing, showing and the stop at 121."""

from deepcrib.engine.games import DEALING, Games, HandLog, IllegalActionError
from deepcrib.engine.turns import Turns

__all__ = ["DEALING", "Games", "HandLog", "IllegalActionError", "Turns"]
