"""What is imported, when, and what it costs: never torch, and the parser only for files that a rule has words for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Modules that load the parser; everything else can be imported without it.
WITH_PARSER = ("ddplint.edits", "ddplint.fixes", "ddplint.semantics.", "ddplint.source.spans")
QUIET = "def mean(values):\n    return sum(values) / len(values)\n"
TALKATIVE = (
    "import torch\nfrom torch.nn import DataParallel\n\nmodel = DataParallel(torch.nn.Linear(4, 2))\n"
    "raise SystemExit('a linter runs no code')\n"
)
# A torch that leaves a trace when anybody imports it.
TRAP = "import pathlib\n\npathlib.Path(__file__).with_name('was_imported').touch()\n"


def modules_after(statements: str, *paths: Path) -> set[str]:
    """The modules that a new interpreter holds after some statements."""
    code = f"{statements}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    return set(json.loads(python("-c", code, paths=paths).stdout.splitlines()[-1]))


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


@pytest.mark.parametrize("options", [[], ["--diff", "--unsafe-fixes"], ["--fix", "--unsafe-fixes"]], ids=" ".join)
def test_a_script_is_linted_and_fixed_without_torch_and_without_running_it(folder: Path, options: list[str]) -> None:
    (folder / "project" / "train.py").write_text(TALKATIVE)
    done = lint(folder, *options)
    assert "DDP101" in done.stdout
    assert done.stderr.split()[-2:] == ["True", "False"]
    assert not was_torch_imported(folder)


@pytest.mark.parametrize(
    "module",
    sorted(
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for root in (ROOT, ROOT / "rules")
        for package in ("ddplint", "ddplint_rules")
        for path in (root / package).rglob("*.py")
        if path.name != "__main__.py"
    ),
)
def test_a_module_loads_the_parser_only_where_trees_are_read_or_changed(module: str) -> None:
    modules = modules_after(f"import {module}")
    assert module in modules
    assert "torch" not in modules
    if not module.startswith(WITH_PARSER):
        assert "libcst" not in modules


def test_importing_the_command_line_costs_little_more_than_importing_click() -> None:
    bare, click, ours = (cpu_seconds(statement) for statement in ("pass", "import click", "import ddplint.cli"))
    assert ours - bare <= 1.75 * (click - bare)


def cpu_seconds(statement: str, repeats: int = 5) -> float:
    """The least CPU time that a new interpreter took for a statement: the least is the one nobody disturbed."""
    code = f"import time\nstart = time.process_time()\n{statement}\nprint(time.process_time() - start)"
    return min(float(python("-c", code).stdout) for _ in range(repeats))
