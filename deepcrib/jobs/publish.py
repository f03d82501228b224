"""`deepcrib publish`: a trained agent on the Hugging Face Hub, for whoever names it `hf:OWNER/NAME`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import MISSING

from deepcrib.agents.specs.travel import copy_weights
from deepcrib.analysis.tables import percent
from deepcrib.errors import RunError
from deepcrib.files import write_atomic
from deepcrib.files.hub import HUB, WANTED, reaching
from deepcrib.files.runs import CONFIG, ENVIRONMENT, SUMMARY, read_json, starts
from deepcrib.files.trust import require_no_way_out
from deepcrib.files.weights import WEIGHTS_FILE, fitting, read_weights
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.console import short_path
from deepcrib.options import option

CARD = "README.md"
_CARD = Path(__file__).with_name("publish_card.md")


@dataclass
class Config:
    """The schema of `conf/publish.yaml`."""

    run: str = option(MISSING, "a finished run folder of deepcrib train; also as an argument: deepcrib publish FOLDER")
    to: str | None = option(None, "OWNER/NAME on the hub; by default nothing is sent, and the files are there to see")
    private: bool = option(False, "make the repository, where it is new, one that others cannot see")


def run(config: Config, run: Run) -> Outcome:
    """Write what is to be sent into `files/` of the run folder: weights, config and card; and send it."""
    source, folder = Path(config.run), run.folder.path / "files"
    require_no_way_out(source)
    environment, summary = read_json(source / ENVIRONMENT), read_json(source / SUMMARY)
    if not source.is_dir() or not summary or not (source / CONFIG).is_file():
        raise RunError(f"run={config.run}: expected the folder of a finished run of deepcrib train")
    weights = read_weights(source).file
    place = f"{HUB}{config.to or 'OWNER/NAME'}"
    matches = {name: one for name, one in summary.items() if isinstance(one, dict) and "win_rate" in one}
    with fitting(f"run={config.run}: its card cannot be written"):
        card = _CARD.read_text(encoding="utf-8").format(
            version=environment["versions"]["deepcrib"],
            commit=environment["commit"] or "unknown",
            minutes=environment["seconds"] / 60,
            rows="\n".join(_row(*match) for match in matches.items()),
            commands="\n".join(" ".join(one["command"]) for one in starts(environment)),
            place=place,
        )
    run.start()
    copy_weights(weights, weights.read_bytes(), folder / WEIGHTS_FILE)
    write_atomic(folder / CONFIG, (source / CONFIG).read_bytes())
    write_atomic(folder / CARD, card)
    if config.to is None:
        run.notes.append(f"nothing is sent without to=OWNER/NAME; what would be: {short_path(folder)}")
    else:
        with reaching(place) as hub:
            hub.create_repo(config.to, private=config.private, exist_ok=True)
            hub.upload_folder(repo_id=config.to, folder_path=folder, allow_patterns=[*WANTED, CONFIG, CARD])
        run.notes.append(f"sent: agent={place}")
    return Outcome({"sent": config.to, "files": sorted(str(one.relative_to(folder)) for one in folder.rglob("*.*"))})


def _row(name: str, found: Mapping[str, Any]) -> str:
    win_rate = percent(*(found[part] for part in ("win_rate", "ci_low", "ci_high")))
    points = f"{found['points_per_hand']:.2f} - {found['opponent_points_per_hand']:.2f}"
    return f"| {name} | {win_rate} | {found['games']:,} | {points} |"
