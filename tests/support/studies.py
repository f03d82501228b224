"""A study over one option, whose worker is this process. Needs Orion."""

from pathlib import Path
from typing import Any

from hydra_plugins.deepcrib_orion import _space, _study
from hydra_plugins.deepcrib_orion._options import OrionSweeperConf


def open_study(path: Path, said: list[str] | None = None, max_trials: int = 4, **changes: Any) -> _study.Study:
    item = _space.Parameter("learner.x", "real", (0.0, 1.0))
    known = {"job": "train", "space": {item.key: item.prior}, "algorithm": "random", "settings": {"seed": 1}}
    record = known | {"objective": "score", "direction": "maximize", "fixed": []} | changes
    searched = {"algorithm": str(record["algorithm"]), "objective": "score"}
    options = OrionSweeperConf(name="study", max_trials=max_trials, max_broken=3, **searched)
    return _study.Study(options, path, [item], record, ([] if said is None else said).append)
