"""Findings and a trace in, verdicts out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ddplint.findings import Finding, Status, Verdict
from ddplint.trace import Ending, Kind, Trace

if TYPE_CHECKING:
    from ddplint.rulekit.pack import RegisteredRule


def judge(
    findings: Sequence[Finding], rules: Mapping[str, RegisteredRule], trace: Trace, changed: Collection[str]
) -> list[Finding]:
    """Return the findings with what the run says of them; a rule that judges no runs leaves its findings as they are.

    ``rules`` are by code. ``changed`` holds the paths of files that are no longer what was linted.
    """
    return [replace(finding, verdict=_verdict(finding, rules[finding.code], trace, changed)) for finding in findings]


def _verdict(finding: Finding, rule: RegisteredRule, trace: Trace, changed: Collection[str]) -> Verdict | None:
    if rule.verdict is None:
        return None
    if finding.path in changed:
        return Verdict.could_not_run("the file was changed while the script ran")
    if not trace.processes:
        return Verdict.could_not_run("no process of the script was seen")
    if not any(trace.reached(finding.lines).values()):
        return Verdict.not_exercised(f"no rank came to line {finding.place.start.line}", *_why(trace))
    verdict = rule.verdict(finding, trace)
    if verdict.status is Status.REFUTED and trace.hooks_failed:
        hooks = ", ".join(sorted({str(event["hook"]) for event in trace.hooks_failed}))
        return Verdict.not_exercised(f"{verdict.summary}, but not all could be watched", f"failed hooks: {hooks}")
    return verdict


def _why(trace: Trace) -> list[str]:
    """Say what kept a run from going on, where something did."""
    if trace.failures:
        error = trace.failures[0]
        where = f" at {error.at}" if error.at is not None else ""
        return [f"the script failed first{where}: {error['error']}"]
    if trace.outcome is not None and trace.outcome.ending is Ending.TIME_LIMIT:
        return ["the time limit was reached"]
    stops = trace.of(Kind.STOP)
    return [f"the run was ended: {stops[0]['reason']}"] if stops else []
