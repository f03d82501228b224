"""`learner=module:Class`: for Hydra, a learner from outside the package is a choice of the group `learner`."""

from __future__ import annotations

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

from deepcrib.plugins import is_place

GROUP = "learner"


def options_of(place: str) -> type:
    """The class of a learner's options, `module:Class` of the learner. Raises OptionError."""
    from deepcrib.learners.registry import find_learner  # which other jobs need not wait for

    return find_learner(place).options


class LearnerSource(ConfigSource):
    """Configs of the group by the names of code, which hold the defaults of its options."""

    @staticmethod
    def scheme() -> str:
        """What a search path begins with."""
        return GROUP

    def load_config(self, config_path: str) -> ConfigResult:
        """The options of a learner."""
        place = _place(config_path)
        config = OmegaConf.structured(options_of(place))
        config.name = place
        return ConfigResult(self.provider, self.full_path(), config, {"package": None})

    def is_config(self, config_path: str) -> bool:
        """Whether it is of the group, and names code."""
        return is_place(_place(config_path))

    def is_group(self, config_path: str) -> bool:
        """The group itself is a folder of `conf/`."""
        return False

    def available(self) -> bool:
        """Always."""
        return True

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """None: code is not searched for."""
        return []


class LearnerPath(SearchPathPlugin):
    """Puts them behind the files of `conf/`."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Called by Hydra when it begins."""
        search_path.append("deepcrib", f"{GROUP}://")


def _place(config_path: str) -> str:
    group, _, name = config_path.strip("/").partition("/")
    return name.removesuffix(".yaml") if group == GROUP else ""
