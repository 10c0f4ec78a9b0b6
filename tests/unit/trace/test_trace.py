"""What a trace answers, from the files that a run leaves."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ddplint
from ddplint.trace import Kind, Trace
from tests.unit.trace.builders import event, lines, outcome, pulse, trace

LOST = "[../gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:8614"
BARRIER = event("collective", 8, 20, call=1, op="barrier", ranks=None, sequence=3)
STEP = {"optimizer": 0, "number": 1, "rates": [0.1]}


def test_paths_are_shown_as_reports_show_them(tmp_path: Path) -> None:
    read = trace(tmp_path, [event("save", 4, path="/project/out/model.pt"), event("save", 5, path="/data/model.pt")])
    assert [(str(one.at), one["path"]) for one in read.events] == [
        ("train.py:4", "out/model.pt"),
        ("train.py:5", "/data/model.pt"),
    ]


def test_a_line_that_was_cut_off_and_kinds_that_are_not_known_are_left_out(tmp_path: Path) -> None:
    trace(tmp_path, [event("print", 4, text="a"), event("from_the_future", 5)])
    with (tmp_path / "events" / "100.jsonl").open("a") as file:
        file.write('{"t": 9, "kind": "pri')
    (tmp_path / "again").mkdir()
    (tmp_path / "events").rename(tmp_path / "again" / "events")
    read = Trace.from_folder(tmp_path / "again", Path("/project"))
    assert [one.kind for one in read.events] == [Kind.PRINT]


def test_what_a_process_does_after_it_stopped_is_no_evidence(tmp_path: Path) -> None:
    read = trace(
        tmp_path, [event("print", 4, text="a"), event("stop", 5, reason="enough"), event("print", 6, text="b")]
    )
    assert [one.kind for one in read.events] == [Kind.PRINT, Kind.STOP]


def test_a_line_is_reached_as_often_as_was_counted_and_at_least_where_something_happened(tmp_path: Path) -> None:
    read = trace(tmp_path, [event("line", 4, count=1), event("line", 4, count=7)], [event("print", 2, 4, text="a")], [])
    assert read.reached(lines(4)) == {0: 7, 1: 1, 2: 0}
    assert [one.rank for one in read.at(lines(2, 3), Kind.PRINT)] == [1]
    assert [one.rank for one in read.below(lines(4), Kind.PRINT)] == [1]


def test_a_script_without_ranks_is_rank_0_of_1(tmp_path: Path) -> None:
    read = trace(tmp_path, [event("step", 4, **STEP)])
    read.all_processes[0].rank = read.all_processes[0].world_size = None
    assert (read.ranks, read.world_size) == ((0,), 1)


def test_the_group_says_which_rank_a_process_is(tmp_path: Path) -> None:
    group = event("group", 4, backend="gloo", world_size=2, rank=1)
    read = trace(tmp_path, [group])
    assert (read.ranks, read.world_size, read.has_group) == ((1,), 2, True)


WAITS = [
    pytest.param(
        [[BARRIER], [event("backward", 12, call=1)]],
        outcome("hang", [pulse(0, "barrier", 8), pulse(1, "backward", 12)]),
        ["rank 0 waits in barrier (train.py:8)", "rank 1 waits in all_reduce of backward (train.py:12)"],
        id="a hang: where each rank stands",
    ),
    pytest.param(
        [[BARRIER], [event("exit")]],
        outcome("hang", [pulse(0, "barrier", 8)]),
        ["rank 0 waits in barrier (train.py:8)", "rank 1 had ended"],
        id="a hang: a rank that has ended",
    ),
    pytest.param(
        [[BARRIER, event("error", 8, error="RuntimeError", text=LOST), event("exit")], [event("exit")]],
        outcome("failed"),
        [
            "rank 0 lost its partner in barrier (train.py:8, called from train.py:20): "
            "Connection closed by peer [127.0.0.1]:8614",
            "rank 1 had ended",
        ],
        id="a rank that fails because the other one has gone",
    ),
    pytest.param(
        [
            [event("print", 1), BARRIER, event("error", 8, error="E", text=LOST)],
            [event("error", 5, error="E", text="x")],
        ],
        outcome("failed"),
        [],
        id="no standstill: the other rank had failed by itself",
    ),
    pytest.param(
        [[event("stop", 9, reason="enough")], [BARRIER]],
        outcome("hang", [pulse(1, "barrier", 8)]),
        [],
        id="no standstill: the other rank had been stopped",
    ),
    pytest.param(
        [[BARRIER, event("error", 8, error="RuntimeError", text=LOST), event("exit")], [event("backward", 12, call=1)]],
        outcome("failed") | {"codes": {"0": 1, "1": -9}},
        [],
        id="no standstill: the other rank was killed",
    ),
    pytest.param(
        [[BARRIER, event("collective_done", 8, of=1, error=None)], []],
        outcome("finished"),
        [],
        id="no standstill: the run ended well",
    ),
]


@pytest.mark.parametrize(("ranks", "end", "expected"), WAITS)
def test_waits(
    tmp_path: Path, ranks: list[list[dict[str, object]]], end: dict[str, object], expected: list[str]
) -> None:
    read = trace(tmp_path, *ranks, end=end)
    assert [str(wait) for wait in read.waits] == expected
    assert read.waits_below(lines(8)) is bool(expected)


@pytest.mark.parametrize(
    ("last", "code", "expected"),
    [
        pytest.param("exit", 0, True, id="at its own end"),
        pytest.param("exit", -6, True, id="aborted by a destructor after its last line"),
        pytest.param("print", -6, False, id="aborted before"),
        pytest.param("exit", 2, False, id="with a code"),
    ],
)
def test_how_a_run_ended(tmp_path: Path, last: str, code: int, expected: bool) -> None:
    end = outcome("failed" if code else "finished") | {"codes": {"0": 0, "1": code}}
    assert trace(tmp_path, [event("exit")], [event(last, text="")], end=end).ended_well is expected


def test_collectives_meet_by_the_count_of_their_group(tmp_path: Path) -> None:
    other = event("collective", 30, call=1, op="all_reduce", ranks=None, sequence=3)
    some = event("collective", 31, call=2, op="all_reduce", ranks=[1], sequence=3)
    read = trace(tmp_path, [BARRIER], [other, some], [])
    (barrier,) = read.at(lines(8), Kind.COLLECTIVE)
    assert {rank: met and met["op"] for rank, met in read.meeting(barrier).items()} == {
        0: "barrier",
        1: "all_reduce",
        2: None,
    }
    assert read.meeting(read.at(lines(31), Kind.COLLECTIVE)[0]) == {}


def test_the_first_step_after_which_parameters_differ(tmp_path: Path) -> None:
    def steps(*checksums: str) -> list[dict[str, object]]:
        return [event("step", 9, **STEP | {"number": n, "checksum": one}) for n, one in enumerate(checksums, 1)]

    (tmp_path / "differ").mkdir()
    (tmp_path / "equal").mkdir()
    differ = trace(tmp_path / "differ", steps("a", "b", "c"), steps("a", "x", "c"))
    assert differ.divergence is not None
    assert [(step.rank, step["number"], step["checksum"]) for step in differ.divergence] == [(0, 2, "b"), (1, 2, "x")]
    assert trace(tmp_path / "equal", steps("a", "b"), steps("a")).divergence is None


def test_passes_belong_to_the_loader_and_the_sampler_that_they_ran_over(tmp_path: Path) -> None:
    end = {"batches": 2, "steps": 2, "cut": True, "count": 4, "first": [3, 1, 2, 0], "digest": "d"}
    events = [
        event("sampler", 3, sampler=0, cls="Mine"),
        event("loader", 4, loader=0, sampler=0, batch_sampler=1),
        event("loader", 5, loader=1, sampler=2, batch_sampler=3),
        event("pass", 6, loader=0, number=0),
        event("pass_end", 6, loader=0, number=0, **end),
        event("pass", 7, loader=1, number=0),
        event("pass_end", 7, loader=1, number=0, **end | {"steps": 0, "digest": "e"}),
    ]
    read = trace(tmp_path, events)
    assert [(one.number, one.steps, one.digest) for one in read.passes_of_loader(lines(4))] == [(0, 2, "d")]
    assert [one["digest"] for one in read.orders(lines(3))[0]] == ["d"]
    whole = event("sampler_pass", 6, sampler=0, count=9, first=[1], digest="w")
    (tmp_path / "whole").mkdir()
    assert [one["digest"] for one in trace(tmp_path / "whole", [*events, whole]).orders(lines(3))[0]] == ["w"]


def test_what_runs_in_the_users_process_is_written_for_python_3_8() -> None:
    home = Path(ddplint.__file__).parent
    files = [home / "__init__.py", home / "runtime" / "__init__.py"]
    files += [*(home / "trace").rglob("*.py"), *(home / "runtime" / "probe").rglob("*.py")]
    assert len(files) > 20
    for path in files:
        ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
