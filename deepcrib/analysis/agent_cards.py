"""The cards of trained agents in words."""

from __future__ import annotations

from deepcrib.agents.packaged import Card, LeaguePlace
from deepcrib.analysis.tables import bounds, percent


def card_facts(card: Card) -> dict[str, str]:
    """What a card tells, by what it is about."""
    time = f"{card.seconds / 60:.1f} minutes" if card.seconds < 3600 else f"{card.seconds / 3600:.2f} hours"
    return {
        "trained by": card.command,
        "in": f"{time}, {card.machine}, commit {card.commit[:7]}",
        "chosen by": card.chosen_by,
        **({} if card.league is None else _places(card.league)),
        "file": f"{card.size:,} bytes, SHA-256 {card.sha256}",
    }


def _places(place: LeaguePlace) -> dict[str, str]:
    """Its place in the league, and what its best responder gains, if that has been measured."""
    rating, gain = bounds(*place.rating, ".0f"), bounds(*place.gain)
    found = {
        "league": f"rank {place.rank} of {place.agents}, rating {rating}, "
        f"wins {percent(*place.win_rate)} of its games, {gain} points a hand"
    }
    if place.exploited is not None:
        found["best responder"] = f"gains {bounds(*place.exploited)} points a hand on it ({place.deals} deals)"
    return found
