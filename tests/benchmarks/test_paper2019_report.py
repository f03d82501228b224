"""The page of runs beside Bélanger et al. 2019: its values stand in the rows of the same algorithm and network."""

from pathlib import Path

import pytest

pytest.importorskip("pandas")

from paper2019_report import main

from tests.analysis.test_report_runs import match, options, table_of, write_run, write_search


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = tmp_path_factory.mktemp("runs")
    for algorithm, spent in (("monte_carlo", 2.0), ("sarsa", 6.0)):
        for network in ("belanger2019_mlp", "belanger2019_cnn_lstm"):
            for seed in (1, 2):
                told = options(algorithm, network, seed=seed)
                folder = root / "runs" / f"{network}_{algorithm}_{seed}"
                write_run(folder, told, match(400 + seed), rates=(0.3, 0.4), seconds=(9.0, 9.0, spent, spent))
    write_search(root / "runs" / "search")
    main([str(root / "runs"), "--to", str(root / "page.md"), "--no-networks"])
    return (root / "page.md").read_text()


def test_hours_are_those_of_table_2(page: str) -> None:
    rows = {(row["play network"], row["algorithm"]): row for row in table_of(page, "Seconds of an iteration")}
    sarsa = rows["belanger2019_mlp", "sarsa"]
    assert (sarsa["paper, hours for 500"], sarsa["paper, times monte_carlo"]) == ("10.75", "1.65")
    assert sarsa["ours, hours for 500"].startswith(f"{500 * 6 / 3600:.2f} [")
    assert rows["belanger2019_cnn_lstm", "sarsa"]["paper, times mlp"] == "3.14"
    assert "**An iteration is not the paper's here**: episodes=20" in page


def test_wins_are_the_published_agents_and_claims_stand_by_their_differences(page: str) -> None:
    rows = {
        (row["play network"], row["algorithm"]): row for row in table_of(page, "Final strength against deterministic")
    }
    best = rows["belanger2019_cnn_lstm", "sarsa"]
    assert best["published agent, by us"] == "64.2% [63.6, 64.9], 20,000 games"
    assert best["the paper says"] == "less monte_carlo: no clear difference (4.2); less mlp: a small boost (4.1)"
    assert rows["belanger2019_mlp", "monte_carlo"]["published agent, by us"] == "-"
    assert "People in the paper: 59.3% [40.7, 75.5], 27 games." in page


def test_a_row_of_table_3_stands_above_ours_of_its_reward_and_state(page: str) -> None:
    rows = table_of(page, "Hands won by reward and state")
    assert [row["setup"] for row in rows].count("paper") == 5
    published, ours = rows[1:3]
    assert [published[name] for name in ("reward", "state", "wins / 1,000, t over runs", "runs")] == [
        *("offensive_defensive", "basic", "560", "141 trials")
    ]
    names = ("play_lr", "lr_decay", "epsilon_decay", "buffer", "replaced")
    assert [published[name] for name in names] == ["0.0099", "0.956", "0.988", "45,000", "50%"]
    assert (ours["search"], ours["runs"]) == ("search", "12 trials")


def test_relations_are_those_that_the_paper_saw(page: str) -> None:
    (row,) = table_of(page, "Relations between hyperparameters")
    assert row["the paper saw"] == "positive: faster learning rates, higher replacement rates"
    assert "As figure 10 of the paper" in page and "As figure 9 of the paper" in page


def test_another_file_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.md"
    path.write_text("mine")
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--to", str(path)])
    assert "there is a file, not written by deepcrib report" in capsys.readouterr().err.splitlines()[-1]
