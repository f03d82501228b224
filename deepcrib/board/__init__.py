"""The table as one player sees it: as plain values, as text and as a picture."""

from deepcrib.board.picture import picture_of
from deepcrib.board.text import text_of
from deepcrib.board.view import HIDDEN, TableView, pegs_behind, view_of

__all__ = ["HIDDEN", "TableView", "pegs_behind", "picture_of", "text_of", "view_of"]
