"""TensorBoard: every tag that runs write is documented and drawn; the table of runs; learning is not touched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import metadata
from torch.utils.tensorboard import SummaryWriter

from deepcrib.analysis.figures import predicted_against_true
from deepcrib.cli import main
from deepcrib.game.policies import POLICIES
from deepcrib.jobs.train.monitoring import FINAL
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.monitoring import BINS, histogram_edges, show_values
from tests.support.figures import match_of
from tests.support.replay_runs import assert_same_runs, run, small

DOCUMENT = Path(__file__).parents[3] / "docs" / "tensorboard.md"
KINDS = {"scalar": "scalars", "histogram": "histograms", "image": "images"}
PLACES = {
    "opponent": "(deterministic|random)",
    "network": "(discard|play)",
    "role": "(pone|dealer)",
    "probe": "[A-Z0-9]+",
    "rank": "[A-Z0-9]+",
    "strategy": "(hand_max_avg|crib_min_avg)",
}
MATCHES = "evaluation.opponents=[deterministic,random] evaluation.games=4 evaluation.final_games=4 evaluation.every=1"
RUNS = {
    "replay": "experiment=smoke learner.iterations=2 learner.episodes=16 learner.unit=hands "
    "pretraining.batch_size=65536",
    "weighted": "learner.games=20 learner.checkpoint_every=10 learner.strategies=[hand_max_avg,crib_min_avg]",
    "partida": "learner.sessions=2 learner.games_per_fit=2 learner.measure_every=1 learner.hands=20 "
    "learner.final_hands=20",
    "td": "learner.hands=20 learner.hidden=[4] learner.pairs=2 learner.checkpoint_every=10",
    "evolution": "learner.generations=2 learner.deals=2 learner.measure_every=1 learner.held_out=20",
    "hill_climb": "learner.games=8 learner.pairs=2 learner.checkpoint_every=4 play_network=mlp play_network.hidden=[4] "
    "learner.climb=play",
    **dict.fromkeys(
        ("mirror", "nfsp"), "learner.iterations=2 learner.hands=64 play_network=mlp play_network.hidden=[4]"
    ),
}


def train(folder: Path, *words: str) -> None:
    assert main(["train", *words, f"hydra.run.dir={folder}"]) == 0


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("runs"))


class Runs:
    """A short run of each learner, made when it is first asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __getitem__(self, learner: str) -> Path:
        folder = self.root / learner
        if not folder.exists():
            train(folder, f"learner={learner}", *RUNS[learner].split(), *MATCHES.split())
        return folder


def all_events(folder: Path) -> EventAccumulator:
    return EventAccumulator(str(folder), size_guidance={"scalars": 0, "histograms": 0}).Reload()


def written(folder: Path) -> dict[str, set[str]]:
    tags = EventAccumulator(str(folder)).Reload().Tags()
    return {kind: set(tags[name]) for kind, name in KINDS.items()}


def documented(heading: str, table: int = 0) -> Iterator[tuple[str, str]]:
    """(kind, tag with places) of each row of a table under a heading of the document."""
    (section,) = re.findall(rf"^### {heading}\n(.*?)(?=^##|\Z)", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    for row in re.split(r"^\| tag ", section, flags=re.MULTILINE)[table + 1].splitlines():
        cells = [cell.strip() for cell in row.split("|")]
        if len(cells) == 5 and cells[2] in KINDS:
            for tag in re.findall(r"`([^`]+)`", cells[1]):
                yield cells[2], tag


def pattern(tag: str) -> str:
    return re.sub(r"<(\w+)>", lambda place: PLACES[place[1]], tag)


def assert_documented(
    tags: dict[str, set[str]], rows: list[tuple[str, str]], absent: set[str] = frozenset(), where: str = "its heading"
) -> None:
    """Every tag stands in a row of its kind, every row has its tags, but for those that these options do not write."""
    for kind in KINDS:
        patterns = [pattern(tag) for found, tag in rows if found == kind]
        new = sorted(tag for tag in tags[kind] if not any(re.fullmatch(one, tag) for one in patterns))
        shown = new[0] if new else ""
        if shown.partition("/")[0] in POLICIES:
            shown, where = f"<opponent>/{shown.partition('/')[2]}", "Every learner"
        assert not new, f"add a row | `{shown}` | {kind} | what it shows | to docs/tensorboard.md under {where}: {new}"
        gone = sorted({one for one in patterns if not any(re.fullmatch(one, tag) for tag in tags[kind])} - absent)
        assert not gone, f"rows of docs/tensorboard.md under {where} that no run writes, to be taken out: {gone}"


ABSENT = {
    "evolution": {"update/fitness", "update/sigma"},
    "replay": {
        *("opponents/share_of_hands", "opponents/points_ahead_per_hand"),
        *("pretraining/exact_share", "teacher/(discard|play)_loss"),
    },
}


COMPILES_MOST = ("td", "partida")
"""Learners whose kernels take half a minute to compile; their own tests run in every suite."""
LEARNERS = [pytest.param(name, marks=pytest.mark.slow) if name in COMPILES_MOST else name for name in RUNS]


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_tag_is_documented_and_every_documented_tag_written(learner: str, runs: Runs) -> None:
    rows = [*documented("Every learner"), *documented("Every learner", 1), *documented(f"learner={learner}")]
    where = f"learner={learner}"
    if learner == "replay":
        rows += documented("learner=replay", 1)
    if learner in ("replay", "mirror", "nfsp"):
        rows += documented("learner=replay, mirror, nfsp")
        where += ", or under learner=replay, mirror, nfsp if all three write it"
    assert_documented(written(runs[learner]), rows, ABSENT.get(learner, set()), where)


def test_a_run_is_one_entry_and_its_pretraining_comes_before_its_first_step(runs: Runs) -> None:
    events = all_events(runs["replay"])
    assert {file.parent for file in runs["replay"].rglob("events.out.tfevents.*")} == {runs["replay"]}
    steps = {tag: [event.step for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    for tag, found in steps.items():
        assert found[-1] == -1 if tag.startswith("pretraining/") else found[0] >= 0, tag


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_chart_of_the_layout_shows_something(learner: str, runs: Runs) -> None:
    events = EventAccumulator(str(runs[learner])).Reload()
    (event,) = events.Tensors("custom_scalars__config__")
    layout = layout_pb2.Layout.FromString(event.tensor_proto.string_val[0])
    assert layout.category[0].title == "Strength"
    titles = [chart.title for chart in reversed(layout.category[0].chart)]  # the last is drawn first
    assert [title for title in titles if "win rate" in title] == [
        "win rate against deterministic",
        "win rate against random",
    ]
    scalars = written(runs[learner])["scalar"]
    for chart in (chart for category in layout.category for chart in category.chart):
        for series in chart.margin.series:
            assert {series.value, series.lower, series.upper} <= scalars
        for one in chart.multiline.tag:
            assert any(re.match(one, tag) for tag in scalars), (chart.title, one)


def test_a_run_without_discard_network_or_matches_has_no_charts_of_them(tmp_path: Path) -> None:
    words = [*RUNS["replay"].split(), "learner.discard_agent=greedy", "evaluation.every=0", "evaluation.final_games=4"]
    train(tmp_path, *words)
    (event,) = EventAccumulator(str(tmp_path)).Reload().Tensors("custom_scalars__config__")
    layout = layout_pb2.Layout.FromString(event.tensor_proto.string_val[0])
    assert [category.title for category in layout.category] == ["Points a hand", "Learning", "Throughput", "Schedule"]
    assert not any("discard" in chart.title for category in layout.category for chart in category.chart)
    assert not any(written(tmp_path)[kind] for kind in ("histogram", "image"))


def options_of(folder: Path) -> dict[str, Any]:
    """The options of the one session of a run, as its table of runs reads them."""
    (file,) = folder.glob("events.out.tfevents.*.options")
    events = EventAccumulator(str(folder)).Reload()
    starts = [
        value.metadata.plugin_data.content
        for event in EventFileLoader(str(file)).Load()
        for value in event.summary.value
        if value.tag == metadata.SESSION_START_INFO_TAG
    ]
    assert len(starts) == 1 and events.SummaryMetadata(metadata.SESSION_END_INFO_TAG)
    found = metadata.parse_session_start_info_plugin_data(starts[0]).hparams
    return {name: getattr(value, value.WhichOneof("kind")) for name, value in found.items()}


def test_a_resumed_run_has_one_row_with_its_new_options_and_figures(runs: Runs, tmp_path: Path) -> None:
    folder = runs["td"]
    assert options_of(folder)["learner.hands"] == 20
    options = options_of(folder)
    assert options["learner.hidden"] == "[4]" and options["evaluation.seed"] == "null"
    assert options["rules.name"] == "acc" and "algorithm.name" not in options
    assert main(["train", f"resume={folder}", "learner.hands=30"]) == 0
    assert options_of(folder)["learner.hands"] == 30
    events = EventAccumulator(str(folder)).Reload()
    for tag in ("random/win_rate", "random/win_rate_low", "random/points_per_hand", "hours"):
        assert [event.step for event in events.Scalars(f"{FINAL}{tag}")] == [30]
    content = events.SummaryMetadata(metadata.EXPERIMENT_TAG).plugin_data.content
    table = metadata.parse_experiment_plugin_data(content)
    columns = [info.name.tag for info in table.metric_infos]
    assert {info.name for info in table.hparam_infos if info.differs} == {"learner.hands", "resume"}
    assert columns[0].endswith("/win_rate") and columns[-1] == f"{FINAL}hours"
    steps = [event.step for event in EventAccumulator(str(folder)).Reload().Scalars("loss/squared_error")]
    assert steps == [10, 20, 30]


def test_writing_changes_nothing_that_is_learned(tmp_path: Path) -> None:
    settings = small(opponents=("random",), every=1)
    asked: dict[str, Any] = {"evaluate": lambda *_: match_of(hand_margin_low=None)}
    run(tmp_path / "without", settings, **asked)
    asked |= {"figure": predicted_against_true, "probe": lambda agent, seed: {"experts/none": 1.0}}
    with SummaryWriter(str(tmp_path / "events")) as writer:
        run(tmp_path / "with", settings, **asked, writer=writer)
    assert_same_runs(tmp_path / "without", tmp_path / "with")
    events = all_events(tmp_path / "events")
    assert [event.step for event in events.Scalars("experts/none")] == [1, 2, 3, 4]
    assert "random/hand_margin_low" not in events.Tags()["scalars"]
    shown = events.Histograms("target/play")[-1].histogram_value
    assert shown.num == 2 * 20 * 8 == sum(shown.bucket)  # two epochs of 20 hands are kept, of 8 plays each
    assert len(events.Histograms("q/discard")) == 4


def test_the_targets_shown_of_distributions_are_their_means() -> None:
    """Half of the mass on -2 and half on 5 is 1.5 points; all of it on 3 is 3."""
    atoms = torch.arange(-2.0, 6.0)
    targets = np.zeros((2, 8), dtype=np.float32)
    targets[0, [0, 7]], targets[1, 5] = 0.5, 1
    samples = Batch(np.zeros((2, 22), np.int8), np.zeros(2, np.int8), targets)
    play_q = SimpleNamespace(atoms=atoms, values=lambda states, actions: np.zeros(len(states), np.float32))
    shown = {}
    writer = SimpleNamespace(add_histogram=lambda tag, values, step, bins: shown.update({tag: values.tolist()}))
    show_values(writer, 1, {"play": play_q}, {"play": samples})
    assert shown == {"q/play": [0, 0], "target/play": [1.5, 3]}


def test_figures_come_ten_times_and_at_the_end(tmp_path: Path) -> None:
    drawn = []

    def figure(predicted: np.ndarray, true: np.ndarray, **_: Any) -> None:
        assert len(predicted) == len(true)
        drawn.append(len(true))

    with SummaryWriter(str(tmp_path)) as writer:
        settings = small(opponents=(), every=1, iterations=25, episodes=2, checkpoint_every=100)
        run(tmp_path, settings, writer=writer, figure=figure)
    assert len(drawn) == 9  # after 3, 6, ... 24 and 25 iterations
    assert len(all_events(tmp_path).Histograms("q/play")) == 25


@given(st.lists(st.integers(-200, 200), min_size=1, max_size=50), st.booleans())
def test_bins_hold_every_value_and_whole_points_evenly(points: list[int], whole: bool) -> None:
    values = np.array(points, dtype=np.float32) + np.float32(0 if whole else 0.25)
    edges = histogram_edges(values)
    assert 1 <= len(edges) - 1 <= BINS
    assert np.histogram(values, edges)[0].sum() == len(values)
    if whole and np.ptp(points) >= 2:
        counts, _ = np.histogram(np.arange(np.floor(edges[0]) + 1, edges[-1]), edges)
        assert len(set(counts)) == 1


def test_the_figure_shows_negative_returns_and_wild_predictions() -> None:
    true = np.array([-3, -3, 0, 2], dtype=np.float32)
    figure = predicted_against_true(np.array([-3.0, -2.0, 0.0, 1e9]), true, truth="return", cell=1.0)
    figure.canvas.draw()
    axes = figure.axes[0]
    assert axes.get_xlabel() == "return (points)"
    means = {line.get_label(): line for line in axes.lines}["mean prediction"]
    assert means.get_xdata().tolist() == [-3, 0, 2]
    assert means.get_ydata()[:2].tolist() == [-2.5, 0] and means.get_ydata()[2] < 100
