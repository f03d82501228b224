"""Every file of conf/ composes, fits its schema, and says what it is meant to say."""

from dataclasses import asdict
from pathlib import Path

import pytest
import yaml
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from deepcrib import runs
from deepcrib.jobs import JOBS
from deepcrib.jobs.options import CHECKS, check_values
from deepcrib.jobs.schema import check_no_extras, register_schema
from deepcrib.jobs.train import Config as TrainConfig
from deepcrib.training.options import LearnerOptions

CONF = runs.conf_folder()
GROUPS = sorted(path.name for path in CONF.iterdir() if path.is_dir() and path.name not in ("hydra", "experiment"))
EXPERIMENTS = sorted(path.stem for path in (CONF / "experiment").glob("*.yaml"))
PAPER = [name for name in EXPERIMENTS if name.startswith("paper2019_")]
CHOICES = sorted(f"{path.parent.name}={path.stem}" for group in GROUPS for path in (CONF / group).glob("*.yaml"))


def composed(job: str, *overrides: str):
    """The plain options of a job, checked as the command line checks them."""
    schema = register_schema(JOBS[job])
    with initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
        config = compose(job, overrides=list(overrides))
    check_no_extras(config, schema)
    options = OmegaConf.to_object(config)
    check_values(options)
    return options


def test_every_job_has_its_config_and_every_config_its_job() -> None:
    assert {path.stem for path in CONF.glob("*.yaml")} == set(JOBS)


@pytest.mark.parametrize("job", sorted(set(JOBS) - {"evaluate"}))
def test_jobs_compose(job: str) -> None:
    assert isinstance(composed(job), register_schema(JOBS[job]))


@pytest.mark.parametrize("choice", CHOICES)
def test_every_choice_of_every_group_composes(choice: str) -> None:
    """A file's `name`, where it has one, is the name of the file."""
    group, name = choice.split("=")
    options = getattr(composed("train", choice), group)
    if "name" in asdict(options):
        assert options.name == name


def test_every_value_that_a_check_allows_has_its_file() -> None:
    for group in ("algorithm", "rules", "discard_network", "play_network", "learner"):
        check = CHECKS[type(getattr(TrainConfig(), group))]["name"]
        expected = check("no such name")
        assert expected is not None
        files = {path.stem for path in (CONF / group).glob("*.yaml")}
        assert files == set(expected.removeprefix("expected one of ").split(", "))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_composes(name: str) -> None:
    composed("train", f"experiment={name}")


def test_the_promised_experiments_are_there() -> None:
    algorithms = ("monte_carlo", "sarsa", "expected_sarsa", "q_learning")
    papers = {f"paper2019_{network}_{a}" for network in ("cnn_lstm", "mlp") for a in algorithms}
    assert {"quick", "smoke", *papers} <= set(EXPERIMENTS)


@pytest.mark.parametrize("name", PAPER)
def test_paper_experiments_are_the_papers_setup(name: str) -> None:
    """Sections 3.2, 3.6.4 and 4.1 of Bélanger et al. 2019, and what their names say."""
    options = composed("train", f"experiment={name}")
    learner = options.learner
    assert (learner.iterations, learner.unit, learner.episodes, learner.epochs_kept) == (500, "games", 200, 5)
    assert (learner.batch_size, learner.passes, learner.buffer_size) == (64, 1.0, None)
    assert (learner.epsilon, learner.epsilon_decay) == (0.05, 0.995)
    assert (learner.discard_lr, learner.play_lr, learner.lr_decay) == (5e-5, 7e-4, 0.99)
    assert (options.reward.play, options.reward.discard) == ("offensive_defensive", "own")
    assert (options.state.play, options.state.discard) == ("basic", "basic")
    assert (options.pretraining.enabled, options.pretraining.epochs, options.pretraining.batch_size) == (True, 3, 64)
    assert options.rules.name == "acc"
    assert (options.evaluation.opponents, options.evaluation.final_games) == (["deterministic"], 5000)
    assert options.evaluation.every == 10
    network = "cnn_lstm" if "cnn_lstm" in name else "mlp"
    assert options.play_network.name == network
    assert options.discard_network.name == {"cnn_lstm": "cnn", "mlp": "mlp"}[network]
    assert options.algorithm.name == name.removeprefix(f"paper2019_{network}_")


def test_quick_trains_without_meeting_its_opponents_and_measures_20000_games() -> None:
    options = composed("train", "experiment=quick")
    assert options.learner.discard_agent is None
    assert options.evaluation.final_games >= 20_000
    assert {"deterministic", "greedy", "random"} <= set(options.evaluation.opponents)
    assert options.pretraining.enabled


def test_an_experiment_yields_to_the_command_line() -> None:
    options = composed("train", "experiment=quick", "algorithm=sarsa", "learner.iterations=3")
    assert (options.algorithm.name, options.learner.iterations) == ("sarsa", 3)
    assert options.reward.play == "margin"


def test_the_learner_file_shows_the_defaults_of_its_options() -> None:
    shown = OmegaConf.create(yaml.safe_load((CONF / "learner" / "replay.yaml").read_text()))
    defaults = OmegaConf.structured(LearnerOptions)
    assert OmegaConf.merge(defaults, shown) == defaults


def test_configs_are_found_beside_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (CONF / "train.yaml").is_file()
    monkeypatch.setattr(runs, "_PACKAGE", tmp_path / "deepcrib")
    with pytest.raises(runs.RunError, match="no configs found"):
        runs.conf_folder()


def test_an_installed_package_writes_below_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert runs.outputs_folder() == Path(runs.__file__).resolve().parents[1] / "outputs"
    (tmp_path / "deepcrib" / "conf").mkdir(parents=True)
    (tmp_path / "deepcrib" / "conf" / "train.yaml").write_text("")
    monkeypatch.setattr(runs, "_PACKAGE", tmp_path / "deepcrib")
    monkeypatch.chdir(tmp_path)
    assert runs.outputs_folder() == tmp_path / "outputs"
    assert runs.conf_folder() == tmp_path / "deepcrib" / "conf"
