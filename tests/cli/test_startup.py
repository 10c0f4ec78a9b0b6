"""Nothing is imported before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.sandbox import Sandbox

HEAVY = {
    "libcst",
    "pathspec",
    "multiprocessing",
    "torch",
    "ddplint_rules",
    "tryout_rules",
    "ddplint.reporting",
    "ddplint.engine",
}

RUN = "import sys; from ddplint.cli import main; code = main(); print(*sys.modules, file=sys.stderr); sys.exit(code)"


def imported(sandbox: Sandbox, *arguments: str, code: int = 0) -> set[str]:
    """The modules that are there at the end of a run of ``ddplint``."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        cwd=sandbox.folder,
        env=sandbox.environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--version"], id="the version"),
        pytest.param(["--help"], id="the help"),
        pytest.param(["check", "--help"], id="the help of a command"),
        pytest.param(["explain", "--help"], id="the help of another command"),
    ],
)
def test_what_needs_no_rule_imports_none(sandbox: Sandbox, arguments: list[str]) -> None:
    assert imported(sandbox, *arguments) & HEAVY == set()


def test_files_without_a_trigger_need_no_parser(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "print('nothing that a rule looks for')\n")
    modules = imported(sandbox, ".")
    assert "tryout_rules.plain" in modules
    assert modules & {"libcst", "multiprocessing", "torch"} == set()


def test_a_file_with_a_trigger_needs_the_parser(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "plain()\n")
    modules = imported(sandbox, "train.py", code=1)
    assert "libcst" in modules
    assert modules & {"libcst.matchers", "multiprocessing", "torch", "ddplint.fixes"} == set()


@pytest.mark.parametrize(
    "arguments",
    [pytest.param(["rules"], id="the list of rules"), pytest.param(["explain", "plain-call"], id="a rule explained")],
)
def test_rules_are_shown_without_the_parser(sandbox: Sandbox, arguments: list[str]) -> None:
    assert "libcst" not in imported(sandbox, *arguments)
