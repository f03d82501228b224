"""Every option of learning that `verdicts.py` judges: its words, what it is held against, and how it is measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SEEDS = 5
GAMES, MATCH_SEED = 20_000, 20_260
"""Of every match; training seed i is measured on deals of seed MATCH_SEED + i, whatever the option and the opponent."""
OPPONENTS = ("deterministic", "greedy", "expected_value")
QUICK = ("experiment=quick", "learner.iterations=90", "learner.epsilon_decay=0.9778")
"""A quarter of 360 iterations; epsilon falls from 0.15 to 0.02 and the learning rates to 0, as in the whole."""
UNMEASURED = ("evaluation.opponents=[]", "evaluation.at=[]")


Figures = dict[str, dict[str, Any]]
"""By run: its command, commit, processor, seconds and hands, its matches by opponent or base, and base_seconds: what
its bases took on the same machine."""


@dataclass(frozen=True)
class Option:
    """What is judged: its words beside QUICK, and the options that it is held against, by name.

    about: what to know of it, below the table. setup: in place of QUICK. first_seed: the others follow it.
    """

    name: str
    words: tuple[str, ...] = ()
    bases: tuple[str, ...] = ("default",)
    about: str = ""
    setup: tuple[str, ...] = QUICK
    first_seed: int = 1

    def command(self, seed: int) -> list[str]:
        """Words of `deepcrib` that train its seed number `seed`, counted from 1."""
        return ["train", *self.setup, *self.words, *UNMEASURED, f"seed={self.first_seed + seed - 1}"]

    def run(self, seed: int) -> str:
        """The name of the run of its seed number `seed`, and of its figures."""
        return f"{self.name}_seed{seed}"

    def measured(self, figures: Figures) -> dict[int, dict[str, Any]]:
        """Figures by seed number: of this very command, against all bases and opponents."""
        found = {seed: figures.get(self.run(seed), {}) for seed in range(1, SEEDS + 1)}
        rivals = {*self.bases, *OPPONENTS}
        return {
            seed: run
            for seed, run in found.items()
            if run.get("command") == self.command(seed) and rivals <= run["matches"].keys()
        }


def options() -> Iterator[Option]:
    """All options in the order in which they are run; each after its bases."""
    yield Option("default", bases=())
    yield from _targets()
    yield from _replay_and_networks()
    yield from _self_play()
    yield from _more_targets()
    yield from _rewards()
    yield from _inputs_and_buffers()
    yield from _slow()


def _targets() -> Iterator[Option]:
    yield Option("sarsa", ("algorithm=sarsa",))
    yield Option("n_steps", ("algorithm=sarsa", "algorithm.n_steps=2"), ("sarsa", "default"))
    yield Option("trace_decay", ("algorithm=sarsa", "algorithm.trace_decay=0.8"), ("sarsa", "default"))
    yield Option("q_learning", ("algorithm=q_learning",))
    yield Option("expected_sarsa", ("algorithm=expected_sarsa",))


def _replay_and_networks() -> Iterator[Option]:
    yield Option("prioritised", ("learner.sampling=prioritised",))
    twice = "as `passes`: one epoch is kept, all of it new; no verdict on larger buffers (Zhang and Sutton 2017)"
    yield Option("combined", ("learner.combined=true",), about=twice)
    yield Option("dueling", ("play_network.head=dueling",))
    yield Option("categorical", ("play_network.head=categorical",), about="with the default's learning rates")
    noisy = ("discard_network.noisy=true", "play_network.noisy=true")
    yield Option(
        "noisy", (*noisy, "learner.epsilon=0"), about="noise explores in place of epsilon; the default's rates"
    )
    yield Option("noisy_epsilon", noisy, about="noise explores beside epsilon; the default's rates")


def _self_play() -> Iterator[Option]:
    share = "learner.opponent_share=0.3"
    yield Option("pool_past", ("learner.opponents=[past]", share))
    mixed = ("learner.opponents=[greedy,past,past]", share)
    yield Option("pool_greedy", mixed, about="trained against one of the three opponents below")
    primers = "learner.priming=[hand_max_avg,hand_max_min,hand_max_poss]"
    yield Option("priming", (primers, "learner.priming_iterations=20"))
    yield Option("no_pretraining", ("pretraining.enabled=false",))
    yield Option("teacher", ("pretraining.teacher=greedy", "pretraining.teacher_episodes=20000"))


def _more_targets() -> Iterator[Option]:
    copied = ("algorithm=q_learning", "learner.target_every=10")
    yield Option("target_every", copied, ("q_learning",))
    yield Option("double", (*copied, "algorithm.double=true"), ("target_every", "q_learning"))


def _rewards() -> Iterator[Option]:
    games = ("learner.unit=games", "learner.episodes=900")
    yield Option("games", games, about="about as many hands: a game has nine, and more of beginners")
    yield Option("scores", (*games, "state.scores=true"), ("games",))
    yield Option(
        "game_bonus", (*games, "state.scores=true", "reward.game_bonus=20"), ("scores",), about="one size, untuned"
    )
    yield Option("hand_bonus", ("reward.hand_bonus=5",))
    own = ("reward.discard=own", "reward.discard_baseline=false")
    yield Option("discard_own", own, about="with the margin in the play, the 2019 paper's offensive_defensive")


def _inputs_and_buffers() -> Iterator[Option]:
    yield Option("state_basic", ("state=basic",))
    yield Option(
        "state_full", ("state=full",), about="the 2019 paper's extended state, with the networks and rates of `quick`"
    )
    more = "more samples are learned, in more seconds"
    yield Option("epochs_2", ("learner.epochs_kept=2",), about=more)
    yield Option("epochs_5", ("learner.epochs_kept=5",), about=more)
    fifth = ("learner.epochs_kept=5", "learner.passes=0.2")
    yield Option("epochs_5_short", fifth, about="as many samples learned as by the default")
    ideal = ("learner.buffer_size=45000", "learner.replacement=0.1", "learner.passes=0.1")
    steps = ("learner.iterations=1310", "learner.epsilon_decay=0.99846")
    yield Option(
        "buffer",
        (*ideal, *steps),
        about="the 2019 paper's buffer: as many hands and samples in small steps; five options differ",
    )
    yield Option("passes", ("learner.passes=2",))
    yield Option("forced", ("learner.forced=true",))
    yield Option("discard_agent", ("learner.discard_agent=expected_value",))
    yield Option("default_again", first_seed=SEEDS + 1, about="the default with seeds 6 to 10: no difference is right")


def _slow() -> Iterator[Option]:
    yield Option("categorical_discard", ("discard_network.head=categorical",))
    yield Option("dueling_discard", ("discard_network.head=dueling",))
    ideal = ("experiment=paper2019_ideal", "learner.iterations=20")
    yield Option("paper2019_ideal", setup=ideal, about="another setup altogether, for about the default's seconds")
