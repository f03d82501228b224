"""Matches after chosen iterations, before the first one too; progress.csv; matches of the agent that explores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from deepcrib.cli import main
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.game.randomness import FINAL_MATCHES, derive
from deepcrib.jobs.hydra.schema import check_values, parse
from deepcrib.jobs.train.config import Config
from deepcrib.learners.replay.monitoring import FIGURES, draws_at
from deepcrib.learners.replay.options import ReplayOptions
from deepcrib.learners.td.options import TdOptions
from deepcrib.training.options import EvaluationOptions
from tests.support.fitting import rows_in
from tests.support.replay_runs import assert_same_runs, run, small


def settings_at(*at: int, **learner: Any) -> Any:
    settings = small(opponents=("random", "greedy"), every=10, **learner)
    settings.evaluation.at = list(at)
    return settings


def matches_in(folder: Path, opponent: str = "random") -> list[int]:
    """Iterations of the rows with matches."""
    return [int(row["step"]) for row in rows_in(folder) if row.get(f"{opponent}/win_rate")]


def test_matches_before_the_first_iteration_change_nothing_that_is_learned(tmp_path: Path) -> None:
    run(tmp_path / "without", small())
    run(tmp_path / "with", settings_at(0, 1, 3), evaluate=evaluate)
    assert_same_runs(tmp_path / "without", tmp_path / "with")
    assert matches_in(tmp_path / "with") == [0, 1, 3]
    assert [row["progress/hands"] for row in rows_in(tmp_path / "with")] == ["0", "20", "40", "60", "80"]


@pytest.mark.parametrize("at", [[5, 1], [1, 1], [-1, 2]])
def test_lists_that_are_none(at: list[int]) -> None:
    config = Config(learner=ReplayOptions(), evaluation=EvaluationOptions(at=at))
    with pytest.raises(OptionError, match=r"evaluation\.at=\["):
        check_values(config)


def test_other_learners_refuse_what_they_do_not_read(capsys: pytest.CaptureFixture) -> None:
    word = "evaluation.exploring=true"
    assert main(["train", "learner=td", word]) == 2
    assert f"{word}: learner=td does not read it" in capsys.readouterr().err
    config = Config(learner=TdOptions(), evaluation=EvaluationOptions(exploring=True))
    with pytest.raises(OptionError, match="learner=td does not read it"):  # not from the command line: an experiment's
        check_values(config)


def test_every_beside_a_list_is_refused(capsys: pytest.CaptureFixture) -> None:
    """Else what was asked for would pass without effect; every=0, no matches at all, is heard."""
    assert main(["train", "experiment=quick", "evaluation.every=50"]) == 2
    assert "evaluation.every=50: evaluation.at=[0, 1, 2," in capsys.readouterr().err
    for every, at in ((0, [1]), (50, []), (50, None)):
        config = Config(learner=ReplayOptions(), evaluation=EvaluationOptions(every=every, at=at))
        check_values(config, parse([f"evaluation.every={every}"]))


def test_figures_of_a_list_come_at_most_ten_times() -> None:
    """Thirteen points on the way: every second one, and the end."""
    at = [0, 1, 2, 5, 10, 20, 50, 100, 150, 200, 250, 300, 350]
    drawn = [iteration for iteration in range(1, 361) if draws_at(EvaluationOptions(at=at), iteration, 360)]
    assert drawn == [2, 10, 50, 150, 250, 350, 360] and len(drawn) <= FIGURES


# --- the agent that explores --------------------------------------------------------------------------------


def test_the_exploring_agent_has_the_epsilon_of_the_last_iteration(tmp_path: Path) -> None:
    """Of iterations 0, 1, 2: 0.4, 0.2, 0.1; the networks are those of the agent."""
    settings = small(iterations=3, epsilon=0.4, epsilon_decay=0.5, checkpoint_every=1)
    figures: list[Any] = []
    result = run(tmp_path, settings, progress=lambda done, found: figures.append(found))
    assert (result.agent.epsilon, result.exploring.epsilon) == (0.0, pytest.approx(0.1))
    assert result.exploring.epsilon == figures[-1]["schedule/epsilon"]
    again = run(tmp_path, settings, resume=True)
    assert again.exploring.epsilon == result.exploring.epsilon


def test_final_matches_of_both_kinds(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    words = "experiment=smoke pretraining.enabled=false learner.iterations=2 learner.episodes=16 evaluation.at=[0,2] "
    words += "evaluation.games=4 evaluation.final_games=60 learner.epsilon=0.8 learner.epsilon_decay=0.5"
    assert main(["train", *words.split(), "evaluation.exploring=true", f"hydra.run.dir={tmp_path}"]) == 0
    printed = capsys.readouterr().out
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert set(summary) == {"deterministic", "random"}
    seed = derive(1, FINAL_MATCHES)
    for name, figures in summary.items():
        exploring = figures.pop("exploring")
        assert exploring.pop("epsilon") == pytest.approx(0.4)
        for epsilon, held in ((0.0, figures), (0.4, exploring)):
            agent = {"path": str(tmp_path), "epsilon": epsilon}
            expected = evaluate(agent, name, 60, seed).to_dict()
            assert held | {"seconds": 0} == expected | {"seconds": 0}
        assert f"{name}, agent explores" in printed
    events = EventAccumulator(str(tmp_path)).Reload()
    assert [event.step for event in events.Scalars("Win_rate/random")] == [0, 2]
    assert matches_in(tmp_path, "deterministic") == matches_in(tmp_path, "random") == [0, 2]
