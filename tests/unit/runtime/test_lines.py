"""Lines are counted where they are asked for, by either of the two ways that Python offers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

import pytest

from ddplint.runtime.probe.lines import Lines
from ddplint.runtime.probe.plan import Plan
from ddplint.runtime.probe.recorder import Recorder
from ddplint.trace import Kind, Trace

TEXT = "def loop():\n    for number in range(5):\n        number += 1\n\n\ndef other():\n    return 1\n"
DISABLE = object()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project, run = tmp_path / "project", tmp_path / "run"
    project.mkdir()
    run.mkdir()
    script = project / "train.py"
    script.write_text(TEXT)
    plan = Plan(
        root=str(project), nproc=1, steps=1, epochs=1, write=False, stand_in=False, patience=1.0, pulse=1.0,
        lines={str(script): [3]},
    )  # fmt: skip
    plan.store(str(run))
    return tmp_path


def functions(folder: Path) -> dict[str, Any]:
    script = folder / "project" / "train.py"
    names: dict[str, Any] = {}
    exec(compile(script.read_text(), str(script), "exec"), names)
    return names


def counts(folder: Path) -> list[tuple[str, int]]:
    read = Trace.from_folder(folder / "run", folder / "project")
    return [(str(event.at), event["count"]) for process in read.all_processes for event in process.of(Kind.LINE)]


@pytest.fixture
def trace_function() -> Iterator[None]:
    before = sys.gettrace()
    yield
    sys.settrace(before)


@pytest.mark.usefixtures("trace_function")
def test_the_trace_function_counts_and_leaves_other_code_alone(folder: Path) -> None:
    lines = Lines(Recorder(str(folder / "run"), "rank"))
    names = functions(folder)
    sys.settrace(lines._called)
    names["loop"]()
    names["other"]()
    sys.settrace(None)
    lines.flush()
    assert counts(folder) == [("train.py:3", 1), ("train.py:3", 2), ("train.py:3", 4), ("train.py:3", 5)]
    assert lines._called(SimpleNamespace(f_code=names["other"].__code__), "call", None) is None  # type: ignore[arg-type]


def test_monitoring_counts_and_switches_itself_off_for_other_code(folder: Path) -> None:
    monitoring = Monitoring()
    lines = Lines(Recorder(str(folder / "run"), "rank"))
    lines._monitor(monitoring)
    names = functions(folder)
    started, reached = monitoring.callbacks["start"], monitoring.callbacks["line"]
    for name in ("loop", "other"):
        assert started(names[name].__code__, 0) is DISABLE  # asked once for each function
    assert monitoring.local == {names["loop"].__code__}
    assert [reached(names["loop"].__code__, line) for line in (2, 3, 3)] == [DISABLE, None, None]
    assert counts(folder) == [("train.py:3", 1), ("train.py:3", 2)]


class Monitoring:
    """What ``sys.monitoring`` has to offer, for Pythons that have none; the callbacks are called by the test."""

    DISABLE = DISABLE
    events = SimpleNamespace(PY_START="start", LINE="line")

    def __init__(self) -> None:
        self.callbacks: dict[str, Callable[[CodeType, int], object]] = {}
        self.local: set[CodeType] = set()

    def get_tool(self, _number: int) -> None:
        return None

    def use_tool_id(self, _number: int, name: str) -> None:
        assert name == "ddplint"

    def register_callback(self, _tool: int, event: str, callback: Callable[[CodeType, int], object]) -> None:
        self.callbacks[event] = callback

    def set_events(self, _tool: int, events: str) -> None:
        assert events == "start"

    def set_local_events(self, _tool: int, code: CodeType, events: str) -> None:
        assert events == "line"
        self.local.add(code)
