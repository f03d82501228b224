"""The page of input channels, which the site's build makes of the encoders; run as a script it prints the page."""

from __future__ import annotations

from collections.abc import Callable

from deepcrib.networks.encoders.discard import DISCARD_ENCODERS
from deepcrib.networks.encoders.encoder import Encoder, make_discard_encoder, make_play_encoder
from deepcrib.networks.encoders.play import PLAY_ENCODERS
from deepcrib.networks.encoders.spec import Spec

_INTRODUCTION = """\
# What the networks see

Generated from the encoders when the site is built; `python docs/_ext/observations_page.py` prints it.

A state is encoded together with one choice (a play, or a discard), as a row of numbers: the network's output
is the value of that choice. The tables stand in `deepcrib/networks/encoders/`: `play.py`, `discard.py`,
`belanger2019.py`. `one-hot` channels hold at most one 1 in a row of the table, `count` channels how
often the thing is there, a `flag` is 0 or 1, a `scalar` is a number times its factor. Ranks are A 2 3 4 5 6
7 8 9 T J Q K, suits clubs, diamonds, hearts, spades. Only what the player is allowed to see is encoded.
`basic` and `full` are the states of Bélanger, Tremblay, Vachon and Viviano 2019 (sections 3.6.3 and 3.7.4);
`afterstate` and `history` are ours. `state.scores=true` adds both players' scores; `state.dealer=true` adds the
dealer flag to a play state; these two and all discard states always have it. The tables show every option on.

Of the opponent a play state shows what it played: `basic` in the current series, `full` in the whole hand, together
with one's own cards; `afterstate` also how many cards it holds and whether it said go, `history` who played which
card and at which count it could not play; with `state.scores=true` its score; the states of `belanger2019_*` its cards
of earlier series apart from one's own. A discard state shows nothing of it but, with `state.scores=true`, its score,
and who deals.
"""


def observations_page() -> str:
    """Return the text of the page: a table for each encoder, with all its options on."""
    play = [_section("Play", make_play_encoder, name) for name in PLAY_ENCODERS]
    return "\n".join([_INTRODUCTION, *play, *(_section("Discard", make_discard_encoder, n) for n in DISCARD_ENCODERS)])


def _section(title: str, make: Callable[..., Encoder], name: str) -> str:
    plain, complete = make(name).width, make(name, True, True)
    width = f"{plain} inputs"
    if complete.width > plain:
        width += f", {complete.width} with the options"
    return f"## {title} `{name}`: {width}\n\n{channel_table(complete.spec)}\n"


def channel_table(spec: Spec) -> str:
    """Markdown table of every channel, one line for each row of a block."""
    lines = ["| inputs | block | channels | kind | meaning |", "|---|---|---|---|---|"]
    first = 0
    for block in spec.blocks:
        kind = block.kind if block.scale == 1.0 else f"{block.kind} x {block.scale:.6g}"
        meaning = block.meaning
        for row in block.row_names:
            last = first + len(block.channels) - 1
            where = f"{first}-{last}" if last > first else f"{first}"
            lines.append(f"| {where} | {row.replace('[', ' [')} | {' '.join(block.channels)} | {kind} | {meaning} |")
            first, meaning = last + 1, "as above"
    return "\n".join(lines)


if __name__ == "__main__":
    print(observations_page(), end="")
