"""The script of the trained agents: its rule, and that what people read is what the cards and the league's file say."""

from types import SimpleNamespace
from typing import Any

from benchmarks import zoo
from deepcrib.agents.packaged import WEIGHTS, read_cards


def met(rates: dict[tuple[str, str], float]) -> Any:
    """A round robin with these win rates of the first of each pair."""
    series = {pair: SimpleNamespace(total=SimpleNamespace(win_rate=rate)) for pair, rate in rates.items()}
    return SimpleNamespace(pairings=series)


def test_the_seed_with_the_highest_mean_win_rate_is_taken() -> None:
    found = met({("1", "2"): 0.49, ("1", "3"): 0.52, ("2", "3"): 0.51})
    assert {seed: round(rate, 9) for seed, rate in zoo.mean_rates(found).items()} == {1: 0.505, 2: 0.51, 3: 0.485}
    assert zoo.best_of(found) == 2
    assert "2,000 games a pair on duplicate deals: 50.50% (seed 1), 51.00% (seed 2)" in zoo.described(found, 2000)


def test_the_cards_say_what_the_league_said() -> None:
    """A card's place is that of docs/results/league.csv; deals stand with the gain that they measured."""
    rows = zoo.standings()
    for name, card in read_cards().items():
        if card.league is not None:
            assert card.league == zoo.standing(rows[name], len(rows), card.league.deals)
            assert (card.league.exploited is None) == (card.league.deals == 0)


def test_what_networks_gain_is_a_lower_bound() -> None:
    row = {"ceiling_both": "0.5", "ceiling_both_low": "0.4", "ceiling_both_high": "0.6", "ceiling_hands": ""}
    assert zoo.ceiling(row) == "+0.50 [+0.40, +0.60]"
    assert zoo.ceiling(row | {"ceiling_hands": "9000"}) == "at least +0.50 [+0.40, +0.60]"
    assert zoo.ceiling(row | {"ceiling_both": ""}) == ""
    figures = {f"{name}{end}": "1" for name in ("rating", "win_rate", "gain") for end in ("", "_low", "_high")}
    place = zoo.standing(row | figures | {"rank": "1", "ceiling_hands": "9000"}, 2, 40)
    assert place.exploited is None and place.deals == 0


def test_pages_are_those_of_the_cards_and_of_the_league() -> None:
    assert (WEIGHTS / "README.md").read_text(encoding="utf-8") == zoo.cards_page()
    assert zoo.top_table(zoo.standings()) in zoo.README.read_text(encoding="utf-8")
