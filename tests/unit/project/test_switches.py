"""Places that only some runs of a program come to, and what is set in every run."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Script

HEAD = """
import os
import sys
import torch
import torch.distributed as dist

rank = dist.get_rank()
"""
EVERY_RUN = [
    pytest.param("here()\n", id="outside functions"),
    pytest.param("if __name__ == '__main__':\n    here()\n", id="in the main file"),
    pytest.param("if torch.cuda.is_available():\n    here()\n", id="where there is a GPU"),
    pytest.param("if torch.cuda.device_count() > 1:\n    here()\n", id="where there are several GPUs"),
    pytest.param("if not dist.is_available() or rank == 0:\n    here()\n", id="on one rank"),
    pytest.param("for epoch in range(3):\n    here()\n", id="in a loop"),
    pytest.param("def main():\n    here()\nmain()\n", id="in a function that is called"),
    pytest.param("def main():\n    here()\n", id="in a function of which no call is known"),
    pytest.param(
        "def main():\n    here()\nif len(sys.argv) > 3:\n    main()\nmain()\n",
        id="in a function that is called by either way",
    ),
    pytest.param("def again():\n    again()\n    here()\nagain()\n", id="in a function that calls itself"),
    pytest.param("try:\n    here()\nfinally:\n    pass\n", id="in a try block"),
]
SOME_RUNS = [
    pytest.param("if args.debug:\n    here()\n", id="under an option"),
    pytest.param("if torch.cuda.is_available() and DEBUG:\n    here()\n", id="under one test of two"),
    pytest.param("def main():\n    if not args.debug:\n        return\n    here()\nmain()\n", id="behind a return"),
    pytest.param("try:\n    pass\nexcept RuntimeError:\n    here()\n", id="after an error"),
    pytest.param("if 'NCCL_DEBUG' not in os.environ:\n    here()\n", id="where nothing is set"),
    pytest.param(
        "def debug():\n    here()\nif args.debug:\n    debug()\n", id="in a function that is called under a test"
    ),
    pytest.param(
        "def inner():\n    here()\ndef debug():\n    inner()\nif args.debug:\n    debug()\n",
        id="in what such a function calls",
    ),
]


def project_of(tmp_path: Path, text: str) -> tuple[Project, Script]:
    path = tmp_path / "train.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path.resolve())
    assert script is not None
    return project, script


def is_decided(tmp_path: Path, text: str) -> bool:
    project, script = project_of(tmp_path, text)
    [here] = [call for call in script.calls if project.names(call.callee) == {"?"}]
    return project.switches.decide(here)


@pytest.mark.parametrize("text", EVERY_RUN)
def test_every_run_comes_there(tmp_path: Path, text: str) -> None:
    assert not is_decided(tmp_path, text)


@pytest.mark.parametrize("text", SOME_RUNS)
def test_a_switch_decides(tmp_path: Path, text: str) -> None:
    assert is_decided(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("os.environ['A'] = '1'\n", [("A", "1", False)], id="an item"),
        pytest.param("ON = '1'\nos.environ['A'] = ON\n", [("A", "1", False)], id="a named constant"),
        pytest.param("os.environ.setdefault('A', '1')\n", [("A", "1", True)], id="a default"),
        pytest.param("os.environ.update(A='1', B='2')\n", [("A", "1", False), ("B", "2", False)], id="an update"),
        pytest.param("os.environ['A'] = '1'\nos.environ['A'] = '0'\n", [], id="different values"),
        pytest.param("os.environ['A'] = sys.argv[1]\n", [], id="a value from outside"),
        pytest.param("if args.debug:\n    os.environ['A'] = '1'\n", [], id="under an option"),
        pytest.param("child = os.environ.copy()\nchild['A'] = '1'\n", [], id="for a child"),
        pytest.param("os.environ['A'] = '1' if args.debug else '0'\n", [], id="chosen in a line"),
    ],
)
def test_what_is_set_in_every_run(tmp_path: Path, text: str, expected: list[tuple[str, str, bool]]) -> None:
    project, script = project_of(tmp_path, text)
    settings = project.fixed_settings.of(script, "A", "B")
    assert [(setting.variable, setting.value, setting.is_default) for setting in settings] == expected
