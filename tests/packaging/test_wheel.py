"""The wheel: what is in it, and that it works where nothing of the checkout is."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from email import message_from_string
from importlib.util import find_spec
from pathlib import Path

import pytest

import ddplint

ROOT = Path(__file__).parents[2]
PACKAGES = ("ddplint", "ddplint_rules")
SCRIPT = (
    "from torch.nn import DataParallel\n\nmodel = DataParallel(net)\n"
    "for batch in loader:\n    model(batch).sum().backward()\n"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT), cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel in it; what the wheel depends on comes from the environment of the tests."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=os.name != "nt")
    python = program(folder, "python")
    run(sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", str(wheel), cwd=folder)
    (site_packages,) = folder.glob("**/site-packages")
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def program(environment: Path, name: str) -> Path:
    return environment / ("Scripts" if os.name == "nt" else "bin") / name


def run(*command: str, cwd: Path, code: int = 0) -> str:
    """Run a command without any of the paths that the tests run with, and return what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def sources() -> Iterator[str]:
    for package in PACKAGES:
        spec = find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        folder = Path(spec.origin).parent
        yield from (f"{package}/{path.relative_to(folder).as_posix()}" for path in folder.rglob("*.py"))


def test_it_holds_every_module_of_both_packages(wheel: Path) -> None:
    assert set(sources()) - names(wheel) == set()


def test_it_holds_nothing_but_the_packages_and_its_metadata(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in names(wheel)}
    assert tops == {*PACKAGES, f"ddplint-{ddplint.__version__}.dist-info"}


def test_type_checkers_are_told_that_both_packages_are_typed(wheel: Path) -> None:
    assert {f"{package}/py.typed" for package in PACKAGES} <= names(wheel)


def test_its_metadata_names_version_licence_and_command(wheel: Path) -> None:
    folder = f"ddplint-{ddplint.__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        metadata = message_from_string(archive.read(f"{folder}/METADATA").decode())
        entry_points = archive.read(f"{folder}/entry_points.txt").decode()
    assert (metadata["Name"], metadata["Version"]) == ("ddplint", ddplint.__version__)
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.10"
    assert "ddplint = ddplint.cli:main" in entry_points


def test_no_test_dependency_is_forced_on_users(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = message_from_string(archive.read(f"ddplint-{ddplint.__version__}.dist-info/METADATA").decode())
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert {line.split("<")[0].split(">")[0].split(";")[0].strip() for line in needed} == {
        "click",
        "libcst",
        "pathspec",
        "tomli",
    }


def test_the_installed_command_says_its_version(installed: Path, tmp_path: Path) -> None:
    output = run(str(program(installed, "ddplint")), "--version", cwd=tmp_path)
    assert output == f"ddplint {ddplint.__version__}\n"


def test_the_installed_command_lints_with_the_installed_rules(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    output = run(str(program(installed, "ddplint")), "train.py", cwd=tmp_path, code=1)
    assert "train.py:3:9: DDP101" in output


def test_both_packages_come_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    code = "import ddplint, ddplint_rules; print(ddplint.__file__, ddplint_rules.__file__)"
    output = run(str(program(installed, "python")), "-c", code, cwd=tmp_path)
    assert all(Path(path).is_relative_to(installed) for path in output.split())
