"""Plans of moves to DistributedDataParallel, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ddplint.engine.plans import PlannedMove, Unplanned
from ddplint.reporting.escape import visible
from ddplint.reporting.json import dumps
from ddplint.reporting.style import Paint, Style

if TYPE_CHECKING:
    from ddplint.migration.ddp import Change, Plan, Remark

_HOW_TO_APPLY = {
    "done": "apply it with: ddplint --fix --select DDP101",
    "done with review notes": "apply it with: ddplint --fix --unsafe-fixes --select DDP101, and look at the notes",
}


def render_plans(planned: Sequence[PlannedMove | Unplanned], *, color: bool = False) -> str:
    """Return the plans as text: for each DataParallel its outcome, then the changes, the notes or the refusal."""
    if not planned:
        return "No DataParallel that trains was found.\n"
    style = Style(color)
    return "\n".join(_block(one, style) for one in planned)


def render_plans_json(planned: Sequence[PlannedMove | Unplanned]) -> str:
    """Return the plans as JSON; ``docs/json.md`` documents it."""
    moves = [_content(one) for one in planned if isinstance(one, PlannedMove)]
    failed = [{"path": one.path, "reason": one.reason} for one in planned if isinstance(one, Unplanned)]
    return dumps({"moves": moves, "failed": failed})


def _block(one: PlannedMove | Unplanned, style: Style) -> str:
    if isinstance(one, Unplanned):
        return f"{visible(one.path)}: {visible(one.reason)}\n"
    plan = one.plan
    head = f"{visible(one.path)}:{one.position.line}:{one.position.column}: {plan.outcome.value}"
    lines = [style.paint(Paint.BOLD, head), f"  {visible(one.excerpt)}"]
    if plan.refusal is not None:
        lines.append(f"  line {plan.refusal.position.line}: {visible(plan.refusal.reason)}")
        if plan.refusal.remedy:
            lines.append(f"  what helps: {visible(plan.refusal.remedy)}")
    else:
        lines += [f"  line {line}: {visible(reason)}" for line, reason in _lines(plan)]
        lines += [f"  look at line {note.position.line}: {visible(note.text)}" for note in plan.notes]
        lines.append(f"  {_HOW_TO_APPLY[plan.outcome.value]}")
    return "".join(f"{line}\n" for line in lines)


def _lines(plan: Plan) -> list[tuple[int, str]]:
    """Return the first line of each change with its reason, in the order of the file."""
    return sorted(dict.fromkeys((change.edits[0].start.line, change.reason) for change in plan.changes))


def _content(one: PlannedMove) -> dict[str, Any]:
    refusal = one.plan.refusal
    return {
        "path": one.path,
        "line": one.position.line,
        "column": one.position.column,
        "outcome": one.plan.outcome.value,
        "changes": [_change(change) for change in one.plan.changes],
        "notes": [_remark(note) for note in one.plan.notes],
        "refusal": None
        if refusal is None
        else {
            "line": refusal.position.line,
            "column": refusal.position.column,
            "reason": refusal.reason,
            "remedy": refusal.remedy,
        },
    }


def _change(change: Change) -> dict[str, Any]:
    edits = [
        {
            "start": {"line": edit.start.line, "column": edit.start.column},
            "end": {"line": edit.end.line, "column": edit.end.column},
            "content": edit.content,
        }
        for edit in change.edits
    ]
    return {"reason": change.reason, "edits": edits}


def _remark(note: Remark) -> dict[str, Any]:
    return {"line": note.position.line, "column": note.position.column, "text": note.text}
