"""Every command and every piece of code in the README and the first pages of the site works (in a short form)."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from deepcrib.cli import main
from deepcrib.files import runs
from deepcrib.records import GameWriter
from tests.support.recorded import played

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs" / "start").glob("*.md")),
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
SHORT = {
    "train": ["experiment=smoke", "learner.iterations=2", "learner.episodes=16", "evaluation.final_games=20"],
    "evaluate": ["games=40"],
}
SHORT_WEIGHTED = ["learner.games=200", "evaluation.final_games=20"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)


def commands(program: str) -> list[str]:
    lines = (line.split("#")[0].strip() for block in blocks("bash") for line in block.splitlines())
    inline = re.findall(rf"`({program} [^`]+)`", TEXT)
    return list(dict.fromkeys(line for line in [*lines, *inline] if line.startswith(f"{program} ")))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readme") / "run"
    assert main(["train", *SHORT["train"], f"hydra.run.dir={folder}"]) == 0
    return folder


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the game of a person."""
    folder = tmp_path_factory.mktemp("play")
    GameWriter(folder / "game.jsonl").begin(played(1, person=0))
    return folder


def shortened(command: str, trained: Path, recorded: Path) -> list[str]:
    """The command's words, on a tiny run where it names one, with fewer games; groups that it sets stay set.

    A game in the terminal is composed and not played.
    """
    places = {
        "outputs/train/DATE/TIME": trained,
        "outputs/play": recorded,
        "FILE": recorded / "game.jsonl",
        "FOLDERS": trained,
    }
    words = shlex.split(command)[1:]
    for name, place in places.items():
        words = [word.replace(name, str(place)) for word in words]
    job = words[0]
    if job == "play":
        return [*words, "--cfg", "job"]
    if any(word.startswith("resume=") for word in words):
        return [*words, "learner.iterations=3", "evaluation.final_games=20"]
    if job == "train" and any("learner=weighted" in word or "lang2018" in word for word in words):
        return [*words, *SHORT_WEIGHTED]
    if job == "train" and "-m" in words:  # every run of a sweep would pretrain
        return [
            *shortened(command.replace(" -m", ""), trained, recorded),
            "-m",
            "pretraining.enabled=false",
            "evaluation.every=0",
        ]
    if job == "evaluate" and len(words) > 1 and "=" not in words[1]:  # audit, pairs, play
        count = "pairs" if words[1] == "pairs" else "hands"
        return [*(word for word in words if not word.startswith(f"{count}=")), f"{count}=4"]
    if job == "evaluate":
        words = [re.sub("^hands=.*", "hands=64", re.sub("^deals=.*", "deals=4", word)) for word in words]
    if job == "tournament":
        return [*(word for word in words if not word.startswith("games=")), "games=20"]
    added = [word for word in SHORT.get(job, []) if word.startswith("experiment=") or "games" in word or job == "train"]
    if job == "train" and "experiment=smoke" not in words:  # another one pretrains
        added.append("pretraining.enabled=false")
    kept = [word for word in words if not word.startswith(("experiment=", "games="))]
    return [*kept, *added] if job in SHORT else words


DEEPCRIB = [command for command in commands("deepcrib") if "{" not in command and "A opponent" not in command]


def test_the_readme_shows_commands() -> None:
    assert any("--help" in command for command in DEEPCRIB)
    assert any(command.startswith("deepcrib train -m") for command in DEEPCRIB)
    assert any("resume=" in command for command in DEEPCRIB)
    assert len(DEEPCRIB) >= 20
    assert blocks("python")


@pytest.mark.usefixtures("known_models")
@pytest.mark.parametrize("command", DEEPCRIB)
def test_deepcrib_commands(
    command: str, trained: Path, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "outputs_folder", lambda: tmp_path / "outputs")
    assert main(shortened(command, trained, recorded)) == 0


@pytest.mark.parametrize("experiment", re.findall(r"experiment=([\w/]+)", TEXT))
def test_experiments_that_are_named_exist(experiment: str) -> None:
    found = list((ROOT / "conf" / "experiment").glob(f"{experiment}*.yaml"))
    assert found, experiment


@pytest.mark.parametrize("command", commands("make"))
def test_make_commands(command: str) -> None:
    done = subprocess.run([*command.split(), "--dry-run"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_python_code(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code runs, with a shorter training, and the number it prints last is that of its comment to a digit or so."""
    monkeypatch.setattr(runs, "outputs_folder", lambda: tmp_path / "outputs")
    code = blocks("python")[number]
    short = code.replace('experiment="smoke"', ", ".join(map(repr, SHORT["train"])))
    exec(compile(short, f"python block {number}", "exec"), {})
    printed = float(capsys.readouterr().out.split()[-1])
    (claimed,) = re.findall(r"print\(.*#\s*([\d.]+)", code)
    assert printed == pytest.approx(float(claimed), abs=0.02)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
        made = link.startswith("../reference/")  # when the site is built
        assert made or (page.parent / link).exists(), link


def test_the_readme_is_short() -> None:
    assert len(PAGES[0].read_text(encoding="utf-8").splitlines()) <= 120
