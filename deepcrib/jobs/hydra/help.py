"""`deepcrib help`: a job, written from the job table, the schemas and `conf/`; agents; experiments."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from deepcrib.agents.packaged import read_cards
from deepcrib.agents.specs.registry import shown_names
from deepcrib.analysis.agent_cards import card_facts
from deepcrib.files import runs
from deepcrib.jobs import Job
from deepcrib.jobs.hydra.schema import choices, quoted, register_schema, variants_of
from deepcrib.jobs.shared.console import console

_RUN_ROWS = [
    ("hydra.run.dir=FOLDER", "the run folder; by default outputs/<job>/<date>/<time>"),
    ("-m, --multirun", "a sweep: one run for every combination of comma-separated values"),
    ("hydra.sweep.dir=FOLDER", "the sweep's folder; again over it: done runs are skipped, others resumed"),
    ("hydra/launcher=joblib", "runs of -m side by side on all cores (hydra.launcher.n_jobs=2: two at a time)"),
    ("hydra/launcher=ray", "on a Ray cluster: this machine, or hydra.launcher.ray.init.address=HOST:6379"),
    ("hydra/launcher=submitit_slurm", "as jobs of Slurm (submitit_local: as processes here)"),
    ("--cfg job", "print the options instead of running"),
    ("--config-dir FOLDER", "more groups and experiments of your own"),
]
_LONG = 80  # characters of a list, from which on only its beginning is shown


def print_job(job: Job, overrides: Sequence[str], config_dir: str | None = None) -> None:
    """A job's tasks, examples, groups, and options with the values that the overrides leave them.

    config_dir: a folder of more groups and experiments.
    """
    out, schema = console(), register_schema(job)
    folders = [f"hydra.searchpath=[{quoted(f'file://{Path(config_dir).absolute()}')}]"] if config_dir else []
    config = default_config(job, *overrides, *folders)
    words = (*([job.bare.upper()] if job.bare else []), *job.tasks)
    tasks = f" \\[{' | '.join(words)}]" if words else ""
    out.print(f"[bold]deepcrib {job.name}{tasks} \\[name=value ...][/]   {job.summary}\n")
    for example in job.examples:
        out.print(f"  {example}", markup=False)
    groups = [(name, ", ".join(found)) for name, found in group_choices(config)]
    if groups:
        out.print("\n[bold]Groups[/]  (name=choice: one file of conf/ each)")
        out.print(_grid(groups))
    values = f"as {escape(' '.join(overrides))} has them" if overrides else "with defaults"
    out.print(f"\n[bold]Options[/]  (name=value, {values})")
    variants = variants_of(schema)
    unread = job.module().unread(config.learner.name) if variants else set()
    out.print(_grid(list(_option_rows(schema, config, "", {*variants, *unread}))))
    for group, classes in variants.items():
        choice = config[group].name
        note = f"  (it does not read {', '.join(sorted(unread))})" if unread else ""
        out.print(f"\n[bold]Options with {group}={choice}[/]{note}")
        kind: Any = OmegaConf.get_type(config[group])
        out.print(_grid(list(_option_rows(kind, config[group], f"{group}.", (f"{group}.name",)))))
        others = [*(other for other in classes if other != choice), "module:Class"]
        rest = [f"deepcrib help {job.name} {group}={other}" for other in others]
        out.print(f"\n[bold]Options with another {group}[/]\n  " + "\n  ".join(rest))
    out.print("\n[bold]Runs[/]")
    out.print(_grid(_RUN_ROWS))


def default_config(job: Job, *overrides: str) -> DictConfig:
    """The job's config as composed without any overrides but these."""
    with initialize_config_dir(version_base="1.3", config_dir=str(runs.conf_folder())):
        return compose(job.name, overrides=list(overrides))


def group_choices(config: DictConfig) -> Iterator[tuple[str, list[str]]]:
    """Groups of a job's config, and the names of their files."""
    for folder in sorted(path for path in runs.conf_folder().iterdir() if path.is_dir() and path.name != "hydra"):
        if folder.name in config or (folder.name == "experiment" and "learner" in config):
            found = choices(folder.name, [runs.conf_folder()])
            works = sorted({name.split("/")[0] for name in found if "/" in name})
            yield folder.name, [name for name in found if "/" not in name] + [f"{work}/..." for work in works]


def print_agents() -> None:
    """The names of agents, then the cards of those that come trained."""
    out, cards = console(), read_cards()
    names = [name for name in shown_names() if name not in cards]
    out.print("[bold]Agents[/]  (agent=NAME, or a path, package.module:Class, {name: NAME, option: value})\n")
    out.print(f"{', '.join(names)}\n")
    out.print("[bold]Trained ones that come with the package[/]\n")
    for name, card in cards.items():
        out.print(f"[cyan]{name}[/]  {card.what}")
        out.print(_grid(card_facts(card).items(), "default"))
        out.print()


def print_experiments() -> None:
    """Each experiment with the comment that its file begins with."""
    out, place = console(), runs.conf_folder() / "experiment"
    out.print("[bold]Experiments[/]  (deepcrib train experiment=NAME; one file of conf/experiment each)\n")
    for name in choices("experiment", [runs.conf_folder()]):
        lines = (place / f"{name}.yaml").read_text(encoding="utf-8").splitlines()[1:]  # the first one is Hydra's
        comment = "\n".join(line.removeprefix("# ") for line in takewhile(lambda line: line[:1] == "#", lines))
        comment = re.sub(r"\n(?! )", " ", comment)  # an indented line is a command
        out.print(f"[cyan]{name}[/]")
        out.print(Padding(escape(comment), (0, 0, 0, 4)))


def _option_rows(
    schema: type, config: DictConfig, prefix: str, leave_out: Collection[str] = ()
) -> Iterator[tuple[str, str]]:
    helps = {item.name: item.metadata.get("help", "") for item in fields(schema)}
    for key in map(str, config):
        if f"{prefix}{key}" in leave_out:
            continue
        value = config._get_node(key)
        nested = OmegaConf.get_type(config, key) if isinstance(value, DictConfig) else None
        if isinstance(nested, type) and is_dataclass(nested):
            yield from _option_rows(nested, config[key], f"{prefix}{key}.", leave_out)
        else:
            yield f"{prefix}{key}={_shown(config, key)}", helps.get(key, "")


def _shown(config: DictConfig, key: str) -> str:
    if OmegaConf.is_missing(config, key):
        return "(required)"
    value: Any = config[key]
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(OmegaConf.to_container(value) if OmegaConf.is_config(value) else value).replace("'", "")
    return text if len(text) <= _LONG else textwrap.shorten(text, _LONG // 2, placeholder=" ...]")


def _grid(rows: Iterable[tuple[str, str]], style: str = "cyan") -> Table:
    grid = Table.grid("", "", padding=(0, 3))
    grid.columns[0].overflow = "fold"  # of a name nothing is left out
    for name, text in rows:
        grid.add_row(f"  [{style}]{escape(name)}[/]", escape(text))
    return grid
