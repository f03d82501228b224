"""The wheel holds the package with its configs, and works from where it is installed."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from email.parser import Parser
from pathlib import Path

import pytest

import deepcrib

ROOT = Path(__file__).resolve().parents[2]
OFFLINE_PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


def run(
    command: Sequence[str | Path], cwd: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=os.environ | (environment or {}), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", folder]
    run([*OFFLINE_PIP, "wheel", *options, ROOT], cwd=folder)
    (path,) = folder.glob("deepcrib-*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the wheel is installed into, apart from the repository."""
    folder = tmp_path_factory.mktemp("installed")
    run([*OFFLINE_PIP, "install", "--no-deps", "--no-index", "--target", folder, wheel], cwd=folder)
    return folder


def test_wheel_holds_package_configs_and_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (entry_points,) = (name for name in names if name.endswith("entry_points.txt"))
        commands = archive.read(entry_points).decode()
    kinds = (".py", ".html", ".tcss", ".md")
    files = [path for path in (ROOT / "deepcrib").rglob("*") if path.suffix in kinds]
    package = {path.relative_to(ROOT).as_posix() for path in files}
    assert {Path(name).suffix for name in package} == set(kinds)
    configs = {f"deepcrib/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "conf").rglob("*.yaml")}
    assert "deepcrib/conf/train.yaml" in configs
    assert package | configs | {"deepcrib/py.typed", "deepcrib/__init__.pyi"} <= names
    assert "deepcrib = deepcrib.cli:main" in commands
    plugins = {path.relative_to(ROOT).as_posix() for path in (ROOT / "hydra_plugins").rglob("*.py")}
    assert plugins and plugins <= names
    assert "hydra_plugins/__init__.py" not in names  # the folder is shared with other packages' plugins
    assert not [name for name in names if not name.startswith(("deepcrib", "hydra_plugins/deepcrib_orion/"))]


def test_wheel_tells_version_licence_and_what_it_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(path).decode())
    assert metadata["Version"] == deepcrib.__version__
    assert metadata["License-Expression"] == "MIT"
    readme = str(metadata.get_payload())
    assert readme.startswith("# deepcrib") and "deepcrib.train(" in readme
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert not re.findall(r"\]\((?!https?:)", readme)  # neither pictures nor links of a checkout


def test_installed_command_finds_its_configs_from_any_folder(installed: Path, tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(installed)}
    where = run([sys.executable, "-c", "import deepcrib; print(deepcrib.__file__)"], tmp_path, environment)
    assert Path(where.stdout.strip()).is_relative_to(installed)
    command = [sys.executable, "-m", "deepcrib", "train", "experiment=smoke", "seed=7", "--cfg", "job"]
    assert "seed: 7" in run(command, tmp_path, environment).stdout.splitlines()
    assert not list(tmp_path.iterdir())  # asking for the config leaves nothing behind


def test_every_pinned_version_is_one_that_the_project_accepts() -> None:
    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    wanted = {need.name: need for need in (Requirement(text) for texts in lists for text in texts)}
    del wanted["deepcrib"]
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    assert set(wanted) <= {pin.name for pin in pins}
    for pin in pins:
        exact = [part.version for part in pin.specifier if part.operator == "=="]
        assert not exact or pin.name not in wanted or wanted[pin.name].specifier.contains(exact[0])
