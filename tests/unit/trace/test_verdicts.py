"""What rules make of traces: above all where they have to refute, or must not say anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.findings import Confidence, Finding, Impact, Place, Status
from ddplint.rulekit.pack import load_rules
from ddplint.runtime.judge import judge
from ddplint.source import Position
from ddplint.trace import Trace
from tests.unit.trace.builders import Record, event, lines, trace

RULES = {registered.rule.code: registered for registered in load_rules()}
AT = 10  # the line of every finding
GUARD = Place("train.py", Position(9, 4), Position(9, 13), "    if rank == 0:", "the test of the rank")
CAME = event("line", AT, count=3)
STEP = {"optimizer": 0, "number": 1, "rates": [0.1], "sequence": None}


def finding(code: str, *related: Place) -> Finding:
    rule = RULES[code].rule
    return Finding(code, rule.name, rule.impact, Confidence.LIKELY, "It is wrong.", lines(AT), (AT, AT), related)


def verdict(code: str, read: Trace, *related: Place) -> tuple[Status, str]:
    (judged,) = judge([finding(code, *related)], RULES, read, ())
    assert judged.verdict is not None
    return judged.verdict.status, judged.verdict.summary


def order(digest: str) -> Record:
    return event("sampler_pass", 12, sampler=0, digest=digest, first=[1, 2], count=2)


def barrier(line: int, sequence: int) -> Record:
    return event("collective", line, call=sequence, op="barrier", ranks=None, sequence=sequence)


SAMPLER = event("sampler", AT, sampler=0)
FORWARD = {"call": 1, "wrapper": "ddp", "past": None, "grad": False, "module": "Net"}
DDP = {"model": 0, "broadcast_buffers": True}
LOADER = {"loader": 0, "samples": 64, "batch_size": 4, "replicas": 2}
PASS = [
    event("pass", 12, loader=0, number=0),
    event("pass_end", 12, loader=0, number=0, batches=1, steps=1, cut=True, count=2, first=[1, 2], digest="d"),
]
CASES = [
    pytest.param("DDP202", [[SAMPLER, order("a")]] * 2, Status.NOT_EXERCISED, id="one epoch alone"),
    pytest.param("DDP202", [[SAMPLER, order("a"), order("b")]] * 2, Status.REFUTED, id="another order"),
    pytest.param("DDP202", [[SAMPLER, order("a"), order("a")]] * 2, Status.CONFIRMED, id="the same order"),
    pytest.param(
        "DDP202",
        [[SAMPLER, order("a"), order("a")], [SAMPLER, order("a"), order("b")]],
        Status.REFUTED,
        id="the same order on one rank, by chance",
    ),
    pytest.param(
        "DDP601", [[CAME, event("print", AT, text="a", to="stdout")], [CAME]], Status.REFUTED, id="one rank prints"
    ),
    pytest.param(
        "DDP601",
        [[CAME, event("print", AT, text=f"rank {rank}: ready", to="stdout")] for rank in (0, 1)],
        Status.REFUTED,
        id="each rank says which one it is",
    ),
    pytest.param(
        "DDP601", [[CAME, event("print", AT, text="a", to="file")]] * 2, Status.REFUTED, id="what is printed to a file"
    ),
    pytest.param(
        "DDP601", [[CAME, event("log", AT, text="a", shown=False)]] * 2, Status.REFUTED, id="a logger without a console"
    ),
    pytest.param(
        "DDP602",
        [[event("save", AT, path=f"/project/{rank}.pt", what="torch")] for rank in (0, 1)],
        Status.REFUTED,
        id="a file for each rank",
    ),
    pytest.param("DDP602", [[CAME]] * 2, Status.NOT_EXERCISED, id="nothing is written"),
    pytest.param(
        "DDP602",
        [[event("write", 3, AT, path="/project/a.txt", what="open")]] * 2,
        Status.CONFIRMED,
        id="a function that is called there opens one file on all ranks",
    ),
    pytest.param("DDP501", [[barrier(AT, 4)], [barrier(AT, 4)]], Status.REFUTED, id="all ranks come"),
    pytest.param("DDP501", [[barrier(AT, 4)], [barrier(30, 4)]], Status.REFUTED, id="the others have one of their own"),
    pytest.param(
        "DDP501",
        [[barrier(AT, 4)], [event("collective", 30, call=4, op="all_reduce", ranks=None, sequence=4)]],
        Status.CONFIRMED,
        id="the others meet it with another collective",
    ),
    pytest.param("DDP501", [[CAME], []], Status.NOT_EXERCISED, id="the collective is not reached"),
    pytest.param(
        "DDP503",
        [[event("ddp", 2, **DDP, buffers=0), event("forward", AT, **FORWARD)], [event("ddp", 2, **DDP, buffers=0)]],
        Status.REFUTED,
        id="an evaluation of a model without buffers",
    ),
    pytest.param(
        "DDP503",
        [[event("ddp", 2, **DDP, buffers=3), event("forward", AT, **FORWARD)], [event("ddp", 2, **DDP, buffers=3)]],
        Status.CONFIRMED,
        id="an evaluation of a model with buffers",
    ),
    pytest.param("DDP503", [[event("forward", AT, **FORWARD)]] * 2, Status.REFUTED, id="all ranks evaluate"),
    pytest.param(
        "DDP503", [[event("forward", AT, **FORWARD | {"wrapper": None})], []], Status.REFUTED, id="the model inside"
    ),
    pytest.param(
        "DDP107",
        [[event("forward", AT, **FORWARD | {"past": "ddp", "grad": True}), event("step", 12, **STEP, checksum="a")]]
        * 2,
        Status.REFUTED,
        id="parameters stay equal",
    ),
    pytest.param(
        "DDP107",
        [[event("forward", AT, **FORWARD | {"past": "ddp"}), event("step", 12, **STEP, checksum="a")]] * 2,
        Status.NOT_EXERCISED,
        id="past the wrapper, but without gradients",
    ),
    pytest.param("DDP111", [[CAME]] * 2, Status.REFUTED, id="the attribute is there"),
    pytest.param(
        "DDP301",
        [[event("optimizer", AT, optimizer=0, rates=[0.1]), event("loader", 9, **LOADER), event("step", 12, **STEP)]]
        * 2,
        Status.CONFIRMED,
        id="the rate of one process",
    ),
    pytest.param(
        "DDP301",
        [
            [
                event("optimizer", AT, optimizer=0, rates=[0.1]),
                event("loader", 9, **LOADER),
                event("step", 12, **STEP | {"rates": [0.2]}),
            ]
        ]
        * 2,
        Status.REFUTED,
        id="somebody raises the rate later",
    ),
    pytest.param(
        "DDP201", [[event("loader", AT, **LOADER, share=32), *PASS]] * 2, Status.REFUTED, id="each rank has its share"
    ),
    pytest.param("DDP201", [[event("loader", AT, **LOADER, share=64)]] * 2, Status.NOT_EXERCISED, id="no pass trains"),
]


@pytest.mark.parametrize(("code", "ranks", "expected"), CASES)
def test_verdicts(tmp_path: Path, code: str, ranks: list[list[Record]], expected: Status) -> None:
    assert verdict(code, trace(tmp_path, *ranks), GUARD)[0] is expected


def test_a_finding_that_nobody_came_to_is_not_exercised_and_says_what_ended_the_run(tmp_path: Path) -> None:
    read = trace(tmp_path, [event("error", 3, error="KeyError", text="'data'")], [event("line", 4, count=1)])
    (judged,) = judge([finding("DDP202")], RULES, read, ())
    assert judged.verdict is not None
    assert judged.verdict.status is Status.NOT_EXERCISED
    assert judged.verdict.evidence == ("the script failed first at train.py:3: KeyError",)


def test_a_hook_that_failed_leaves_nothing_refuted(tmp_path: Path) -> None:
    failed = event("hook_failed", hook="print", error="ValueError", count=1)
    read = trace(tmp_path, [CAME, failed, event("print", AT, text="a", to="stdout")], [CAME])
    assert verdict("DDP601", read)[0] is Status.NOT_EXERCISED


def test_a_file_that_was_changed_is_not_judged(tmp_path: Path) -> None:
    (judged,) = judge([finding("DDP202")], RULES, trace(tmp_path, [CAME]), {"train.py"})
    assert judged.verdict is not None
    assert judged.verdict.status is Status.COULD_NOT_RUN


def test_a_rule_that_judges_no_runs_leaves_its_finding_as_it_is(tmp_path: Path) -> None:
    (judged,) = judge([finding("DDP401")], RULES, trace(tmp_path, [CAME]), ())
    assert judged.verdict is None
    assert judged.impact is Impact.CRASH


def test_a_verdict_names_the_test_that_decided(tmp_path: Path) -> None:
    read = trace(tmp_path, [event("line", 9, count=1), barrier(AT, 4)], [event("line", 9, count=1)])
    (judged,) = judge([finding("DDP501", GUARD)], RULES, read, ())
    assert judged.verdict is not None
    assert judged.verdict.evidence[-1] == "decided by `if rank == 0` (train.py:9): rank 0 passed, rank 1 did not"
