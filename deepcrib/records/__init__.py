"""Games as they were played, in a plain file: deals, choices and points, one JSON object a line."""

from deepcrib.records.events import Event
from deepcrib.records.files import GameWriter, find_files, read_games
from deepcrib.records.replay import recorded_choices, replay
from deepcrib.records.schema import GameRecord, Player, RecordError

__all__ = ["Event", "GameRecord", "GameWriter", "Player", "RecordError"]
__all__ += ["find_files", "read_games", "recorded_choices", "replay"]
