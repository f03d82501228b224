"""Pages that follow from the code: one for each command with its options, one for each room, one of input channels."""

from __future__ import annotations

import ast
import contextlib
import math
import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_origin

from observations_page import observations_page
from omegaconf import DictConfig, OmegaConf
from sphinx.application import Sphinx

import deepcrib
from deepcrib.jobs import JOBS, Job
from deepcrib.jobs.hydra.help import default_config, group_choices
from deepcrib.jobs.hydra.schema import register_schema, variants_of

DOCS = Path(__file__).parent.parent
PACKAGE = DOCS.parent / "deepcrib"
FOLDER = DOCS / "reference"
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py") if path.parent.name not in ("app", "jobs"))
TOP = ("intervals", "options", "plugins", "errors")


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", list_names, priority=400)  # before napoleon
    app.connect("autodoc-skip-member", lambda app, what, name, member, skip, options: skip or says_nothing(member))
    return {"parallel_read_safe": True}


NAMES = re.compile(r"([a-z]\w*(?:(?:, | and )[a-z_]\w*)*): (.*)")


def list_names(app: Sphinx, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Make a list of lines as `name: meaning`, with their indented continuation; escape what only looks like markup."""
    listed, made = False, []
    for line in lines:
        if match := NAMES.fullmatch(line):
            made += [*([] if listed else [""]), f"* ``{match[1]}``: {escaped(match[2])}"]
            listed = True
            continue
        if listed and line.startswith("    "):
            made.append(f"  {escaped(line.strip())}")
            continue
        made += [*([""] if listed and line else []), escaped(line)]
        listed = False
    lines[:] = made


def escaped(text: str) -> str:
    """Stars and bars outside code."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*|])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def says_nothing(member: Any) -> bool:
    """A NamedTuple's field, whose docstring is made by Python; names of nested types, which Sphinx cannot typeset."""
    nested = any(get_origin(argument) for argument in get_args(member))
    return nested or str(getattr(member, "__doc__", "")).startswith("Alias for field number")


def write_pages(app: Sphinx) -> None:
    """Write all pages into `reference/`, before Sphinx looks for sources."""
    pages = {f"commands/{job.name}.md": command_page(job) for job in JOBS.values()}
    pages["commands/index.md"] = index_page("Commands", COMMANDS, [f"{name}" for name in JOBS])
    pages |= {f"api/{room}.md": room_page(room) for room in ROOMS}
    docs = {room: " ".join(str(import_module(f"deepcrib.{room}").__doc__).split("\n\n")[0].split()) for room in ROOMS}
    rooms = "\n".join(f"- [{room}]({room}.md): {doc}" for room, doc in docs.items())
    pages["api/index.md"] = index_page("Python API", f"{API}\n\n{rooms}", ["surface", "top", *ROOMS])
    pages["observations.md"] = observations_page()
    pages["api/surface.md"] = "# deepcrib\n\n" + "\n".join(home(name) for name in deepcrib.__all__[1:]) + "\n"
    top = "\n".join(module(f"deepcrib.{name}") for name in TOP)
    pages["api/top.md"] = f"# Intervals, options, plug-ins, errors\n\n{top}"
    for name, text in pages.items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # Sphinx builds anew what is newer
            path.write_text(text, encoding="utf-8")


COMMANDS = """Every command is `deepcrib JOB [task] [name=value ...]`. Options are
[Hydra](https://hydra.cc)'s: groups are chosen by the name of a file in `conf/`, single options are overridden by their
path, and `-m` with several values makes a [sweep](../../sweeps.md).
`deepcrib JOB --help` prints what these pages hold; `deepcrib help train experiment=quick` shows the values that an
experiment sets. Defaults of `train` are those of Bélanger et al. 2019."""

API = """From the docstrings. A room imports only from those before it; the [architecture](../../architecture.md) says
why."""


def index_page(title: str, text: str, names: list[str]) -> str:
    """A page that leads to others of its folder."""
    entries = "\n".join(names)
    return f"# {title}\n\n{text}\n\n```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```\n"


# --- commands -------------------------------------------------------------------------------------------------


def command_page(job: Job) -> str:
    """What `deepcrib JOB --help` says, and what values each option takes."""
    schema, config = register_schema(job), default_config(job)
    examples = "\n".join(job.examples)
    parts = [f"# deepcrib {job.name}\n\n{job.summary[0].upper()}{job.summary[1:]}.\n\n```bash\n{examples}\n```\n"]
    if job.tasks:
        parts.append(f"Tasks: {', '.join(f'`{task}`' for task in job.tasks)}.\n")
    groups = dict(group_choices(config))
    if groups:
        rows = [(f"`{name}`", ", ".join(f"`{choice}`" for choice in found)) for name, found in groups.items()]
        parts.append("## Groups\n\n" + table(("group", "choices"), rows))
    variants = variants_of(schema)
    parts.append("## Options\n\n" + table(HEADER, option_rows(schema, config, "", tuple(variants))))
    for group, found in variants.items():
        for choice, kind in found.items():
            chosen = default_config(job, f"{group}={choice}")[group]
            rows = option_rows(kind, chosen, f"{group}.", ("name",))
            parts.append(f"## Options with {group}={choice}\n\n" + table(HEADER, rows))
    return "\n".join(parts)


HEADER = ("option", "default", "values", "meaning")


def option_rows(schema: type, config: DictConfig, prefix: str, leave_out: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Option, default, values and meaning of each field, nested ones included."""
    rows = []
    for item in fields(schema):
        if item.name in leave_out or item.name not in config.keys():  # noqa: SIM118 - a required one is among the keys alone
            continue
        value = config._get_node(item.name)
        nested = OmegaConf.get_type(config, item.name) if isinstance(value, DictConfig) else None
        if isinstance(nested, type) and is_dataclass(nested):
            rows += option_rows(nested, config[item.name], f"{prefix}{item.name}.", ())
        else:
            rows.append(
                (
                    f"`{prefix}{item.name}`",
                    default_of(config, item.name),
                    values_of(item),
                    item.metadata.get("help", ""),
                )
            )
    return rows


def default_of(config: DictConfig, name: str) -> str:
    """An option's default as one would write it."""
    if OmegaConf.is_missing(config, name):
        return "required"
    value = config[name]
    if value is None:
        return "`null`"
    plain = OmegaConf.to_container(value) if OmegaConf.is_config(value) else value
    return f"`{str(plain).lower() if isinstance(plain, bool) else plain}`"


def values_of(item: Any) -> str:
    """What the option takes: the words with which its check refuses what is no number, or else its type."""
    kind = str(item.type).replace("Any", "value").replace("float", "number").replace("int", "whole number")
    check = item.metadata.get("check")
    for probe in (math.nan, [math.nan], "?"):
        with contextlib.suppress(Exception):
            if check and (expected := check(probe)):
                return expected.partition("expected ")[2] or expected
    return {"bool": "`true` or `false`", "str": "text"}.get(kind, kind)


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


# --- Python ---------------------------------------------------------------------------------------------------


def room_page(room: str) -> str:
    """All modules of a room that say what they hold."""
    found = sorted(
        (PACKAGE / room).rglob("*.py"), key=lambda path: (path.parent, path.name != "__init__.py", path.name)
    )
    parts = [f"# {room}\n"]
    for path in found:
        inside = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(inside[:-1] if inside[-1] == "__init__" else inside)
        if ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))):
            parts.append(module(name))
    return "\n".join(parts)


def home(name: str) -> str:
    """A name of the package itself, with the first sentence of what it is where it is defined."""
    found = getattr(deepcrib, name)
    what = "class" if isinstance(found, type) else "func"
    says = (found.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
    return f"- {{py:{what}}}`deepcrib.{name} <{found.__module__}.{found.__qualname__}>`: {says}"


def module(name: str) -> str:
    """A module's docstrings; of a compiled function, autodoc is shown the function that was compiled."""
    for key, value in vars(found := import_module(name)).items():
        if hasattr(value, "py_func"):
            setattr(found, key, value.py_func)
    options = "   :members:\n   :ignore-module-all:\n   :show-inheritance:"
    return f"## {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n{options}\n```\n"
