"""What is imported, when, and what it costs: never torch, and the parser only for files that a rule has words for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Where trees are read or changed, and the parser is loaded; everything else can be imported without it.
WITH_PARSER = (
    "ddplint.edits",
    "ddplint.fixes",
    "ddplint.migration.ddp.",  # what works out a plan; the package itself does not
    "ddplint.semantics.build_",
    "ddplint.semantics.parse",
    "ddplint.source.spans",
)
# Scripts for an interpreter of their own, which has torch.
FOR_CHILDREN = "ddplint.doctor.collect."
QUIET = "def mean(values):\n    return sum(values) / len(values)\n"
TALKATIVE = (
    "from torch.cuda.amp import GradScaler\n\nscaler = GradScaler()\nraise SystemExit('a linter runs no code')\n"
)
# A torch that leaves a trace when anybody imports it.
TRAP = "import pathlib\n\npathlib.Path(__file__).with_name('was_imported').touch()\n"


def modules() -> Iterator[str]:
    """Every module of both packages, wherever they are installed."""
    for package in ("ddplint", "ddplint_rules"):
        spec = find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        folder = Path(spec.origin).parent
        for path in sorted(folder.rglob("*.py")):
            name = ".".join((package, *path.relative_to(folder).with_suffix("").parts))
            if not name.endswith(".__main__"):
                yield name.removesuffix(".__init__")


def python(*arguments: str, paths: tuple[Path, ...] = (), cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    search = os.pathsep.join([*map(str, paths), *sys.path])
    environment = {**os.environ, "PYTHONPATH": search}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=cwd, capture_output=True, text=True, timeout=100, check=False
    )


def lint(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.argv = ['ddplint', *{options!r}, '.']\nfrom ddplint.cli import main\ncode = main()\n"
    code += "print('libcst' in sys.modules, 'torch' in sys.modules, file=sys.stderr); sys.exit(code)"
    return python("-c", code, paths=(folder / "installed",), cwd=folder / "project")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project next to an installed torch that must not be touched."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "pyproject.toml").write_text("[tool.ddplint]\n")
    (tmp_path / "installed" / "torch").mkdir(parents=True)
    (tmp_path / "installed" / "torch" / "__init__.py").write_text(TRAP)
    return tmp_path


def was_torch_imported(folder: Path) -> bool:
    return (folder / "installed" / "torch" / "was_imported").exists()


def test_the_trap_works(folder: Path) -> None:
    python("-c", "import torch", paths=(folder / "installed",))
    assert was_torch_imported(folder)


def test_a_tree_without_a_word_of_any_rule_never_loads_the_parser(folder: Path) -> None:
    for number in range(20):
        (folder / "project" / f"module_{number}.py").write_text(QUIET)
    done = lint(folder)
    assert (done.returncode, done.stderr.split()[-2:]) == (0, ["False", "False"]), done.stderr


@pytest.mark.parametrize(
    ("options", "code"),
    [
        pytest.param([], 1, id="a run that only looks"),
        pytest.param(["--diff"], 1, id="a run that shows its fixes"),
        pytest.param(["--fix"], 0, id="a run that makes them"),
    ],
)
def test_a_script_is_linted_and_fixed_without_torch_and_without_running_it(
    folder: Path, options: list[str], code: int
) -> None:
    (folder / "project" / "train.py").write_text(TALKATIVE)
    done = lint(folder, *options)
    assert (done.returncode, done.stderr.split()[-2:]) == (code, ["True", "False"]), done.stdout + done.stderr
    assert not was_torch_imported(folder)


def test_only_what_reads_or_changes_trees_loads_the_parser() -> None:
    without = [module for module in modules() if not module.startswith((*WITH_PARSER, FOR_CHILDREN))]
    assert {"ddplint.cli", "ddplint.engine.run", "ddplint.rulekit", "ddplint_rules.linter.syntax_error"} <= {*without}
    code = f"import importlib, sys\nfor name in {without}:\n    importlib.import_module(name)\n"
    code += "    if 'libcst' in sys.modules or 'torch' in sys.modules:\n        sys.exit(name)"
    done = python("-c", code)
    assert done.returncode == 0, done.stderr


def test_importing_the_command_line_loads_little_more_than_click() -> None:
    code = "import click, sys\nbefore = set(sys.modules)\nimport ddplint.cli\nprint(*(set(sys.modules) - before))"
    done = python("-c", code)
    loaded = set(done.stdout.split())
    own = {module for module in loaded if module.startswith("ddplint")}
    assert "ddplint.cli" in own
    assert len(own) <= 8, sorted(own)
    assert len(loaded - own) <= 18, sorted(loaded - own)
