"""`deepcrib report`: a page made of run folders; games of people counted as a baseline, or reviewed, each choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich.markup import escape

from deepcrib.agents import make_agent
from deepcrib.analysis.record_tables import (
    baselines_table,
    beyond_cards_line,
    game_title,
    losses_table,
    recorded_points_table,
    reviews_table,
)
from deepcrib.analysis.report import check_page_path, write_page
from deepcrib.analysis.tables import match_table, worst_table
from deepcrib.app.review_page import review_page
from deepcrib.errors import OptionError
from deepcrib.evaluation.recorded import BY, HINTS, baselines, known, paper_baseline, played_games, whole_games
from deepcrib.evaluation.review import CHANCE, SCALE, losses_by_kind, review
from deepcrib.files.runs import outputs_folder
from deepcrib.intervals import mean_interval
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.common import chosen_task, need_modules
from deepcrib.jobs.shared.console import Bars
from deepcrib.jobs.shared.options import TRUST
from deepcrib.options import at_least, one_of, option
from deepcrib.records import GameRecord, find_files, read_games, replay
from deepcrib.search.rollouts import usual_responder

REPORT, FIGURES_FOLDER, REVIEW = "report.md", "figures", "review.html"


@dataclass
class Config:
    """The schema of `conf/report.yaml`."""

    task: str | None = option(
        None, "runs, humans or review; also as an argument; by default the one that runs= or games= implies"
    )
    runs: Any = option(
        None, "runs: a run folder, a folder that contains run folders, a pattern, or a list of these; default: outputs/"
    )
    path: str | None = option(
        None,
        "where to write the page; runs: FILE.md, with figures in FILE/, review: FILE.html; default: report.md or "
        "review.html in the run folder",
    )
    overwrite: bool = option(False, "runs, review: replace a file at `path` that was not written by a report")
    title: str = option("Training runs", "runs: title of the page")
    games: Any = option(
        None, "a file of recorded games, a folder that contains such files (*.jsonl), or a list of these"
    )
    by: str = option("opponent", "humans: one row per opponent; or person: one per person and opponent", one_of(*BY))
    hints: str = option(
        "exclude", "humans: games in which the person was shown hints; or include, or only", one_of(*HINTS)
    )
    seat: int | None = option(None, "review: seat whose choices are reviewed, 0 or 1; by default those of each person")
    name: str | None = option(None, "review: player whose choices are reviewed, by name")
    worst: int = option(10, "review: number of decisions listed per game", at_least(0))
    opponent: Any = option(
        None,
        "review: as whom the opponent is taken to answer, by default expected_value; runs: opponent whose matches are "
        "shown, by name; default: the one that most runs met",
    )
    trust: bool = option(False, TRUST)


def run(config: Config, run: Run) -> Outcome:
    """Do what the task names. Files are read, and games are replayed, before anything is written."""
    config = replace(config, task=config.task or ("runs" if config.games is None else "humans"))
    task = chosen_task(config, _TASKS)
    with Bars(run.show_progress, run.show_lines) as bars:
        return task(config, run, bars)


def _records(config: Config) -> list[GameRecord]:
    """The games that the option names. Raises OptionError or RecordError."""
    if config.games is None:
        raise OptionError("option games is missing: expected games=PATH, a file of recorded games or a folder of them")
    places = _places("games", config.games, "a file of recorded games, a folder, or a list of them")
    return [record for path in find_files(places) for record in read_games(path)]


def _places(name: str, value: Any, expected: str) -> list[str]:
    places = value if isinstance(value, list) else [value]
    if not places or not all(isinstance(place, str) and place for place in places):
        raise OptionError(f"{name}={value}: expected {expected}")
    return places


def _games(number: int) -> str:
    return f"{number:,} game{'s' if number != 1 else ''}"


# --- runs ---------------------------------------------------------------------------------------------------


def _report(config: Config, run: Run, bars: Bars) -> Outcome:
    need_modules("deepcrib report", "report", "pandas", "tabulate", "matplotlib")
    from deepcrib.analysis.report.page import Page
    from deepcrib.analysis.report.result import usual_opponent
    from deepcrib.analysis.report.runs import load_runs
    from deepcrib.analysis.report.sections import fill

    places = _places(
        "runs", str(outputs_folder()) if config.runs is None else config.runs, "a folder of runs, or a list of them"
    )
    if config.opponent is not None and not isinstance(config.opponent, str):
        raise OptionError(f"opponent={config.opponent}: expected the name of an opponent that the runs met")
    if config.path is not None:
        check_page_path(Path(config.path), ".md", config.overwrite)
    runs = load_runs(places)
    run.start()
    path = Path(config.path) if config.path else run.folder.path / REPORT
    folder = path.with_suffix("") if config.path else path.parent / FIGURES_FOLDER
    page = Page(folder.name)
    results = fill(page, runs, config.opponent or usual_opponent(runs))
    page.write(path, folder, config.title)
    run.notes += [page.sections["Result"][0].replace("**", ""), f"page: {path}"]
    summary = {"task": "runs", "page": str(path), "states": dict(Counter(runs.state)), "figures": sorted(page.figures)}
    return Outcome(summary | {"results": [one.to_dict() for one in results]})


# --- people -------------------------------------------------------------------------------------------------


def _count(config: Config, run: Run, bars: Bars) -> Outcome:
    records = _records(config)
    games, left_out = played_games(records, config.hints, bars.counter("games replayed", len(records)))
    notes = [f"left out, {reason}: {_games(number)}" for reason, number in left_out.items()]
    if not games:
        remedy = "; hints=include counts those with hints" if any("with hints" in reason for reason in left_out) else ""
        raise OptionError(f"games={config.games}: no games to count ({'; '.join(notes)}{remedy})")
    run.start()
    run.notes += notes
    found = baselines(games, config.by)
    tables = []
    for baseline in found:
        title = f"{', '.join(baseline.people)} against {baseline.opponent}"
        tables.append(recorded_points_table(f"points: {title}", baseline))
        if baseline.evaluation.games > 1:  # shares of a single game are no news to who played it
            tables.append(match_table(escape(title), baseline.evaluation))
        run.notes.append(beyond_cards_line(title, baseline.beyond))
    people = len({game.person.name for game in games})
    title = f"people against agents: {_games(len(games))}, {people} {'person' if people == 1 else 'people'}"
    summary = {"task": "humans", "games": len(games), "left_out": left_out, "by": config.by, "hints": config.hints}
    rows = {"baselines": [baseline.to_dict() for baseline in found], "published": paper_baseline()}
    return Outcome(summary | rows, (*tables, baselines_table(title, found)))


# --- review -------------------------------------------------------------------------------------------------

_NOT_REVIEWED = "without choices to review, not of two or gone on with in another record"


def _review(config: Config, run: Run, bars: Bars) -> Outcome:
    records = _records(config)
    if config.seat is not None and config.name is not None:
        raise OptionError(f"seat={config.seat} name={config.name}: expected one of them")
    if config.seat not in (None, 0, 1):
        raise OptionError(f"seat={config.seat}: expected 0 or 1")
    if config.path is not None:
        check_page_path(Path(config.path), ".html", config.overwrite)
    responder = usual_responder(None if config.opponent is None else make_agent(config.opponent))
    counter = bars.counter("games replayed", len(records))
    for record in records:
        replay(record)
        counter(1)
    of_two = [record for record in whole_games(records) if len(record.players) == 2]
    chosen = [(record, seat) for record in of_two for seat in _seats(config, record) if _num_hands(record, seat)]
    if not chosen:
        raise OptionError(_nobody(config, of_two))
    run.start()
    if num_left_out := len(records) - len({id(record) for record, _ in chosen}):
        run.notes.append(f"left out, {_NOT_REVIEWED}: {_games(num_left_out)}")
    run.notes += [f"{SCALE.format(responder.to.name)}, whoever sat there", CHANCE.format(responder.to.name)]
    counter = bars.counter("hands", sum(_num_hands(record, seat) for record, seat in chosen))
    reviews, pages = {}, {}
    for number, (record, seat) in enumerate(chosen, start=1):
        found = review(record, seat, worst=config.worst, responder=responder, progress=counter)
        title = f"{number}: {game_title(record, seat)}"
        reviews[title], pages[title] = found, (record, found)
    path = Path(config.path) if config.path else run.folder.path / REVIEW
    write_page(path, review_page(pages))
    losses = losses_by_kind([hand for found in reviews.values() for hand in found.hands])
    for player in dict.fromkeys(found.player for found in reviews.values()):
        beyond = [points for found in reviews.values() if found.player == player for points in found.beyond]
        run.notes += [beyond_cards_line(player, mean_interval(beyond))] if beyond else []
    tables = [
        worst_table(escape(f"{name}: {found.lost:.2f} points lost"), found.worst)
        for name, found in reviews.items()
        if found.worst
    ]
    tables += [reviews_table("games reviewed", reviews), losses_table("expected points lost", losses)]
    games = [{"game": name, **found.to_dict()} for name, found in reviews.items()]
    kinds = {
        kind: asdict(loss) | {"per_hand": known(loss.per_hand), "chance_lost": known(loss.chance_lost)}
        for kind, loss in losses.items()
    }
    run.notes.append(f"page with boards: {path}")
    summary = {"task": "review", "page": str(path), "left_out": num_left_out, "games": games, "losses": kinds}
    return Outcome(summary, tables)


def _seats(config: Config, record: GameRecord) -> list[int]:
    if config.seat is not None:
        return [config.seat]
    if config.name is not None:
        return [seat for seat in (0, 1) if record.players[seat].name == config.name]
    return record.humans


def _num_hands(record: GameRecord, seat: int) -> int:
    return sum(event.kind == "discard" and event.seat == seat for event in record.events)


def _nobody(config: Config, records: Sequence[GameRecord]) -> str:
    if not records:
        return f"games={config.games}: no games of two players, which alone can be reviewed"
    names = ", ".join(dict.fromkeys(player.name for record in records for player in record.players))
    whose = "people" if config.seat is None else f"seat {config.seat}"
    return (
        f"games={config.games}: no choices of {config.name or whose}, expected seat=0, seat=1 or name=NAME of {names}"
    )


_TASKS: dict[str, tuple[Callable[[Config, Run, Bars], Outcome], tuple[str, ...]]] = {
    "runs": (_report, ("runs", "path", "overwrite", "title", "opponent")),
    "humans": (_count, ("games", "by", "hints")),
    "review": (_review, ("games", "seat", "name", "worst", "opponent", "path", "overwrite")),
}
