"""What Hydra sees of the sweeper; the search itself is in `_search`, which imports Orion."""

from __future__ import annotations

import warnings
from typing import Any

from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf

from hydra_plugins.deepcrib_orion._options import OrionSweeperConf


class OrionSweeper(Sweeper):
    """One worker of a study. Others may be started with the same command, on any machine that sees its file."""

    config: DictConfig

    def __init__(self, **options: Any) -> None:
        plain = OmegaConf.to_container(OmegaConf.create(options), resolve=True)
        self.options = OrionSweeperConf(**plain)  # type: ignore[arg-type]

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Check the sweeper's options and choose the study's folder."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                from hydra_plugins.deepcrib_orion._search import Search
        except ImportError as error:
            from deepcrib.errors import MissingExtraError

            raise MissingExtraError("hydra/sweeper=orion", f"Orion for Python 3.11 ({error})", "orion") from error
        self.config = config
        self._search = Search(self.options, hydra_context, task_function, config)

    def sweep(self, arguments: list[str]) -> None:
        """Run trials until the study has all of its own."""
        self._search.run(arguments)
