"""A field of a job's schema in which one of several classes of options stands, by the choice of its group.

`learner=weighted` puts `WeightedOptions` where the schema says `LearnerOptions`. The field says so in its metadata,
`metadata={VARIANTS: Variants(...)}`; each choice's YAML begins with `defaults: [<choice>_schema, _self_]`.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from deepcrib.errors import OptionError

VARIANTS = "variants"
SCHEMA_SUFFIX = "_schema"


@dataclass(frozen=True)
class Variants:
    """What may stand in a field.

    classes: by choice, which is also the `name` among the options.
    reads: by choice, the groups and options elsewhere in the config that not every choice reads.
    """

    classes: Mapping[str, type]
    reads: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def choice(self, kind: type) -> str | None:
        """The choice that puts a class there."""
        return next((choice for choice, known in self.classes.items() if known is kind), None)

    def fits(self, kind: type) -> bool:
        """Whether a class may stand there: one of a choice, or what they have in common, before there is a choice."""
        return any(issubclass(known, kind) for known in self.classes.values())

    def with_option(self, name: str) -> list[str]:
        """The choices that have an option of that name."""
        return [choice for choice, kind in self.classes.items() if name in typing.get_type_hints(kind)]

    def expected(self) -> str:
        """What is expected where there is no choice."""
        return (
            f"expected one of {', '.join(self.classes)}; a file of one's own begins with "
            f"`defaults: [NAME{SCHEMA_SUFFIX}, _self_]`, NAME one of these"
        )


def variants_of(schema: type) -> dict[str, Variants]:
    """Those fields of a schema that have several classes."""
    return {item.name: item.metadata[VARIANTS] for item in fields(schema) if VARIANTS in item.metadata}


def register_variants(schema: type) -> None:
    """Store each class as `<choice>_schema` in its group."""
    for group, variants in variants_of(schema).items():
        for choice, kind in variants.classes.items():
            ConfigStore.instance().store(group=group, name=f"{choice}{SCHEMA_SUFFIX}", node=kind)


def as_saved(schema: type, saved: Any) -> DictConfig:
    """A schema's defaults, with the classes in place that the names in a saved config ask for."""
    config: DictConfig = OmegaConf.structured(schema)
    for group, variants in variants_of(schema).items():
        name = str(OmegaConf.select(saved, f"{group}.name")) if OmegaConf.is_dict(saved) else ""
        if name in variants.classes:
            config[group] = variants.classes[name]
    return config


def present_classes(config: DictConfig, schema: type) -> dict[str, type]:
    """The class that stands in each field of several classes of a composed config."""
    kinds = {group: OmegaConf.get_type(config, group) for group in variants_of(schema)}
    return {group: kind for group, kind in kinds.items() if isinstance(kind, type) and is_dataclass(kind)}


def check_variants(options: Any, overrides: Sequence[Override]) -> None:
    """Refuse options of no choice, and an override of what the present choice does not read."""
    for group, variants in variants_of(type(options)).items():
        node = getattr(options, group)
        present = variants.choice(type(node))
        if present is None:
            raise OptionError(f"{group}: {variants.expected()}")
        if node.name != present:
            raise OptionError(f"{group}.name={node.name}: expected {present}, whose options these are")
        for override in overrides:
            key = f"{override.key_or_group}."
            readers = [c for c, parts in variants.reads.items() if any(key.startswith(f"{part}.") for part in parts)]
            if readers and present not in readers:
                does = " and ".join(f"{group}={reader}" for reader in readers)
                raise OptionError(f"{override.input_line}: {group}={present} does not read it, only {does}")


def unread(schema: type, group: str, choice: str) -> Iterator[str]:
    """The groups and options elsewhere that a choice does not read."""
    reads = variants_of(schema)[group].reads
    own = set(reads.get(choice, ()))
    yield from sorted({part for parts in reads.values() for part in parts} - own)
