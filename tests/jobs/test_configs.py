"""Every file of conf/ composes, fits its schema, and says what it is meant to say."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from deepcrib.agents import make_agent
from deepcrib.errors import OptionError
from deepcrib.exact.strategies.names import THESIS_STRATEGIES
from deepcrib.files import runs
from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra.schema import choices, option_type, register_schema
from deepcrib.jobs.train.config import READ_BY_EXPLORERS
from deepcrib.jobs.train.config import Config as TrainConfig
from deepcrib.learners.registry import LEARNERS, learner_class
from deepcrib.options import problems
from tests.support.composing import composed

CONF = runs.conf_folder()
GROUPS = sorted(path.name for path in CONF.iterdir() if path.is_dir() and path.name not in ("hydra", "experiment"))
EXPERIMENTS = choices("experiment", [CONF])
PAPER = [name for name in EXPERIMENTS if name.startswith(("paper2019/cnn_lstm_", "paper2019/mlp_"))]
CHOICES = {group: sorted(path.stem for path in (CONF / group).glob("*.yaml")) for group in GROUPS if group != "learner"}


def test_every_job_has_its_config_and_every_config_its_job() -> None:
    assert {path.stem for path in CONF.glob("*.yaml")} == set(JOBS)


@pytest.mark.parametrize("job", sorted(set(JOBS) - {"evaluate", "publish"}))
def test_jobs_compose(job: str) -> None:
    assert isinstance(composed(job), register_schema(JOBS[job]))


@pytest.mark.parametrize("row", range(max(map(len, CHOICES.values()))))
def test_every_choice_of_every_group_composes(row: int) -> None:
    """The first of each group together, the second of each, and so on; a file's `name` is the name of the file."""
    chosen = {group: names[row] for group, names in CHOICES.items() if row < len(names)}
    options = composed("train", *(f"{group}={name}" for group, name in chosen.items()))
    for group, name in chosen.items():
        assert asdict(getattr(options, group)).get("name", name) == name


def test_every_value_that_a_check_allows_has_its_file() -> None:
    for group in ("algorithm", "rules", "discard_network", "play_network"):
        [problem] = problems(replace(getattr(TrainConfig(), group), name="no such name"))
        expected = problem.removeprefix("name=no such name: expected one of ").partition(", or module:name")[0]
        assert set(expected.split(", ")) == {path.stem for path in (CONF / group).glob("*.yaml")}


@pytest.mark.parametrize("job", sorted(JOBS))
def test_every_default_is_in_its_range(job: str) -> None:
    """And every table of names that a check looks into is there."""
    assert not list(problems(register_schema(JOBS[job])()))


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_every_default_of_a_learner_is_in_its_range(name: str) -> None:
    assert not list(problems(LEARNERS[name].options()))


def test_every_learner_has_its_file_and_every_file_its_learner() -> None:
    assert {path.stem for path in (CONF / "learner").glob("*.yaml")} == set(LEARNERS)
    for name, learner in LEARNERS.items():
        options = composed("train", f"learner={name}").learner
        assert type(options) is learner.options and options.name == name


def test_what_only_some_learners_read_is_there() -> None:
    """A group or an option of the job each, so that no entry has gone stale."""
    assert any(hasattr(learner_class(name), "exploring_agent") for name in LEARNERS)
    for part in READ_BY_EXPLORERS:
        assert option_type(OmegaConf.structured(TrainConfig), part)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_composes(name: str) -> None:
    composed("train", f"experiment={name}")


def test_the_promised_experiments_are_there() -> None:
    algorithms = ("monte_carlo", "sarsa", "expected_sarsa", "q_learning")
    papers = {f"paper2019/{network}_{a}" for network in ("cnn_lstm", "mlp") for a in algorithms}
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
    pretraining = options.pretraining
    assert (pretraining.optimizer, pretraining.lr, pretraining.starter) == ("sgd", 5e-4, False)
    assert (options.pretraining.enabled, options.pretraining.epochs, options.pretraining.batch_size) == (True, 3, 64)
    assert options.rules.name == "acc"
    assert (options.evaluation.opponents, options.evaluation.final_games) == (["deterministic"], 5000)
    assert (options.evaluation.games, options.evaluation.at) == (5000, [0, 1, 2, 5, 10, 20, 50, *range(100, 501, 100)])
    assert options.evaluation.exploring and options.evaluation.epsilon == 0
    network = "cnn_lstm" if "cnn_lstm" in name else "mlp"
    assert options.play_network.name == options.state.play == f"belanger2019_{network}"
    assert options.algorithm.name == name.removeprefix(f"paper2019/{network}_")


def test_the_paper_experiments_differ_in_play_network_and_algorithm_alone() -> None:
    """So that nothing else can explain what one wins more than another."""
    first, *others = (composed("train", f"experiment={name}") for name in PAPER)
    assert first.discard_network.name == "belanger2019" and first.state.discard == "basic"
    for other in others:
        other.algorithm, other.play_network, other.state.play = first.algorithm, first.play_network, first.state.play
        assert other == first


def test_the_ideal_agent_of_the_paper() -> None:
    """Section 4.7 of Bélanger et al. 2019; what it leaves open is as in the other experiments."""
    options, other = (composed("train", f"experiment=paper2019/{name}") for name in ("ideal", "cnn_lstm_monte_carlo"))
    assert (options.state.play, options.state.discard) == ("belanger2019_cnn_lstm", "full")
    assert (options.reward.play, options.reward.discard) == ("offensive_defensive", "own")
    assert (options.learner.buffer_size, options.learner.replacement) == (45_000, 0.1)
    assert options.learner.epsilon > 0 and options.learner.epsilon_decay < 1 and options.pretraining.enabled
    options.state, options.learner.buffer_size, options.learner.replacement = other.state, None, None
    assert options == other


def test_dense_plus_game_reward() -> None:
    """Section 5: the offensive-defensive reward, and a large one for who wins the game."""
    assert asdict(composed("train", "reward=dense_game").reward) == {
        **asdict(composed("train", "reward=offensive_defensive").reward),
        "game_bonus": 20.0,
    }
    with pytest.raises(OptionError, match="nobody wins a game in single hands"):
        composed("train", "reward=dense_game", "learner.unit=hands")


def thesis(name: str):
    """The learner's options of an experiment of Lang 2018, whose matches are those of all of them."""
    options = composed("train", f"experiment=lang2018/{name}")
    assert options.evaluation.opponents == ["random_weights", "hand_max_avg", "greedy", "deterministic"]
    assert (options.evaluation.final_games, options.evaluation.every) == (100_000, 0)
    assert options.learner.decay == 0.1
    assert options.rules.name == "acc"
    for start in (options.learner.initial, *options.learner.opponents):
        assert make_agent({"name": "weighted", "initial": start})
    assert all(make_agent(spec) for spec in options.evaluation.opponents)
    return options.learner


def test_the_tournament_of_the_thesis() -> None:
    """Lang 2018, sections 3.3 and 4.1: scaling 10, then 2; e = 0.3 - Var(p), then 0.3; p as the distribution."""
    first, second, static = (thesis(name) for name in ("round_1", "round_2", "round_2_static"))
    assert (first.scaling, first.exploration, first.epsilon, first.explore_by) == (10, "variance", 0.3, "preference")
    assert (first.records, first.record_hands, first.update_records) == ("sampled", 100_000, True)
    assert (second.scaling, second.exploration, second.epsilon) == (2, "constant", 0.3)
    assert first.games == second.games == 1_000_000 and static.games == 350_000
    for options in (first, second, static):
        assert (options.initial, options.opponents, options.explore_by) == ("random", ["random"], "preference")
        assert options.exploring_starts and options.start_spread == 60
    assert (first.opponents_learn, second.opponents_learn, static.opponents_learn) == (True, True, False)


@pytest.mark.parametrize(
    ("name", "games", "changed"),
    [
        ("base", 1_000_000, {}),
        ("text", 1_000_000, {"reading": "text"}),
        ("neighbours", 500_000, {"neighbours": "sum"}),
        ("neighbours_average", 500_000, {"neighbours": "average"}),
        ("round_robin", 1_000_000, {"opponents": ["random"] * 3, "pairs": "random"}),
        ("cap_50", 500_000, {"cap": 0.5}),
        ("cap_60", 500_000, {"cap": 0.6}),
        ("cap_70", 500_000, {"cap": 0.7}),
        ("cap_80", 500_000, {"cap": 0.8}),
        ("punishment", 1_000_000, {"punishment": 0.25}),
        *(
            (
                f"semi_pure_{short}",
                1_000_000,
                {
                    "initial": f"semi_pure_hand_max_{short}",
                    "opponents": [f"semi_pure_hand_max_{short}"],
                    "opponents_learn": False,
                },
            )
            for short in ("min", "avg", "med", "poss")
        ),
        (
            "semi_pure_avg_random",
            1_000_000,
            {"initial": "semi_pure_hand_max_avg", "opponents": ["random"], "opponents_learn": False},
        ),
    ],
)
def test_further_experiments_of_the_thesis(name: str, games: int, changed: dict) -> None:
    """Lang 2018, section 4.2: s = 2, d = 0.1, e = 0.3 uniform, and one thing changed in each."""
    expected = {
        "games": games,
        "scaling": 2.0,
        "exploration": "constant",
        "epsilon": 0.3,
        "explore_by": "uniform",
        "initial": "random",
        "opponents": ["random"],
        "opponents_learn": True,
        "neighbours": "none",
        "neighbour_share": 0.4,
        "pairs": "first",
        "reading": "code",
        "cap": None,
        "punishment": 1.0,
        "records": "exact",
    }
    learner = asdict(thesis(name))
    assert {key: learner[key] for key in expected} == expected | changed


@pytest.mark.parametrize("short", ["min", "avg", "med", "poss"])
def test_a_semi_pure_start_s_strategy_is_the_first_of_the_list(short: str) -> None:
    """`generate_checkpoints.py` of Lang's program turns the list until it is, which decides equal values."""
    names = thesis(f"semi_pure_{short}").strategies
    place = THESIS_STRATEGIES.index(f"hand_max_{short}")
    assert names == [*THESIS_STRATEGIES[place:], *THESIS_STRATEGIES[:place]]


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


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_a_learners_file_leaves_everything_to_its_options(name: str) -> None:
    assert OmegaConf.load(CONF / "learner" / f"{name}.yaml") == {"defaults": [f"{name}_schema", "_self_"]}


@pytest.mark.parametrize("group", sorted(CHOICES))
def test_a_choice_repeats_no_default(group: str) -> None:
    """But its name, which it is chosen by."""
    defaults = asdict(getattr(TrainConfig(), group))
    for choice in CHOICES[group]:
        written = OmegaConf.to_container(OmegaConf.load(CONF / group / f"{choice}.yaml"))
        assert not [key for key, value in written.items() if key != "name" and value == defaults[key]], choice


def test_configs_are_found_beside_a_checkout() -> None:
    assert Path(runs.__file__).resolve().parents[2] / "conf" == CONF and (CONF / "train.yaml").is_file()


def test_an_installed_package_writes_below_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert runs.outputs_folder() == Path(runs.__file__).resolve().parents[2] / "outputs"
    (tmp_path / "deepcrib" / "conf").mkdir(parents=True)
    (tmp_path / "deepcrib" / "conf" / "train.yaml").write_text("")
    monkeypatch.setattr(runs, "_PACKAGE", tmp_path / "deepcrib")
    monkeypatch.chdir(tmp_path)
    assert runs.outputs_folder() == tmp_path / "outputs"
    assert runs.conf_folder() == tmp_path / "deepcrib" / "conf"
