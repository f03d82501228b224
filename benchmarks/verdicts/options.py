"""The options of learning that are judged: the words of each, what it is held against, and with which seeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.long_run import LongRun

VERDICTS_CODE = "d987941c049172bce7f4488984f27b349d61ab62"
"""Of the second edition of the verdicts."""
SEEDS = 5
OPPONENTS = ("deterministic", "greedy", "expected_value", "td_perceptron", "champion_networks")
"""The panel; the first edition has three of them."""
FIRST_OPPONENTS = OPPONENTS[:3]
FULL = ("experiment=quick",)
QUICK = (*FULL, "learner.iterations=90", "learner.epsilon_decay=0.9778")
"""A quarter of 360 iterations; epsilon falls from 0.15 to 0.02 and the learning rates to 0, as in the whole."""
UNMEASURED = ("evaluation.opponents=[]", "evaluation.at=[]")
FRESH = 10
"""Seeds of the second edition are so much higher: no verdict of the first has seen them."""


@dataclass(frozen=True)
class Option:
    """What is judged: its words beside QUICK, and the options that it is held against, by name.

    about: what to know of it, below the table. setup: in place of QUICK. first_seed: the others follow it. hours: of a
    core that a seed takes in the second edition, about, with its matches.
    """

    name: str
    words: tuple[str, ...] = ()
    bases: tuple[str, ...] = ("default",)
    about: str = ""
    setup: tuple[str, ...] = QUICK
    first_seed: int = 1
    hours: float = 0.07

    def command(self, number: int) -> list[str]:
        """Words of `deepcrib` that train its seed number `number`, counted from 1."""
        return ["train", *self.setup, *self.words, *UNMEASURED, f"seed={self.first_seed + number - 1}"]


def options() -> Iterator[Option]:
    """All options of the first edition; each after its bases."""
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
    # The package has noisy networks no more: these two are words of the commit of the first edition.
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


# --- second edition -------------------------------------------------------------------------------------------------


AGAIN = ("default", "teacher", "epochs_2", "passes", "forced", "hand_bonus", "games", "scores", "epochs_5_short")
AGAIN_LONG = ("epochs_5", "dueling", "default_again")
"""What the first edition found to beat its base (but `combined`, which is `passes` by another name), and what the
pooled spread alone decides, with the bases of these, and the default against itself."""


def second() -> Iterator[Option]:
    """Options of the first edition that are measured again, with fresh seeds."""
    known = {option.name: option for option in options()}
    for name in (*AGAIN, *AGAIN_LONG):
        hours = 0.12 if name in ("epochs_5", "dueling") else Option.hours
        yield replace(known[name], first_seed=known[name].first_seed + FRESH, hours=hours)


PARTS = {
    "teacher": ("pretraining.teacher=greedy", "pretraining.teacher_episodes=20000"),
    "forced": ("learner.forced=true",),
    "passes": ("learner.passes=2",),
    "epochs": ("learner.epochs_kept=2",),
}
"""What beat its base in the first edition by its own spread, together `all`; two epochs, since five won 0.2 points more
in 1.7 times the seconds."""
SECONDS = {1096: ("all", "no_teacher"), 860: ("no_forced",), 648: ("no_passes", "no_epochs")}
"""By iterations of plain `quick`: what takes as long. Processor seconds of an iteration as multiples of `quick`'s, from
ten turns of all in one process: 3.03 `all`, 2.36 without `forced`, 1.77 without `passes` or without the second epoch.
The teacher's games take 10 s more, before the first iteration: those of ten of `quick`'s."""


def together() -> Iterator[Option]:
    """What beat its base together, and all but one, at `quick`'s length; against it, more hands in as long, `all`."""
    yield Option("quick", bases=(), setup=FULL, hours=0.12)
    hands = {name: f"hands_{iterations}" for iterations, names in SECONDS.items() for name in names}
    for iterations in SECONDS:
        decay = f"learner.epsilon_decay={0.9944 ** (360 / iterations):.5f}"
        more, hours = (f"learner.iterations={iterations}", decay), round(0.04 + iterations * 0.95 / 3600, 2)
        yield Option(f"hands_{iterations}", more, ("quick",), setup=FULL, hours=hours)
    for left_out in ("", *PARTS):
        words = tuple(word for part, own in PARTS.items() if part != left_out for word in own)
        name = f"no_{left_out}" if left_out else "all"
        bases = ("quick", hands[name], *(("all",) if left_out else ()))
        hours = {"all": 0.36, "no_teacher": 0.37, "no_forced": 0.31}.get(name, 0.25)
        yield Option(name, words, bases, setup=FULL, hours=hours)


def verdicts() -> Iterator[LongRun]:
    """Verdicts, second edition, seed by seed: what beat its base, together and each left out; then options again."""
    for group, chosen in (("together", together), ("options", second)):
        for number in range(1, SEEDS + 1):
            for option in chosen():
                options = (option.name, str(number))
                name = f"verdicts2_{group}_seed{number}"
                yield LongRun(name, option.name, (), options, option.hours, ("",), VERDICTS_CODE, script="verdicts.py")
