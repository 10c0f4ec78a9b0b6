"""The start and the end of the processes: the helpers, the call that joins them, and their parting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ddplint.edits.bindings import imports_of
from ddplint.migration.ddp.helpers import SETUP, add_imports, lines_of
from ddplint.migration.ddp.job import Job
from ddplint.migration.ddp.outcome import Refused
from ddplint.migration.ddp.site import is_entry_test
from ddplint.semantics import Call
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import Region

JOINED = "the processes are joined before anything else is run"
PARTED = "the processes part when all of them are done"
# Gloo's threads let go of the last tensors while the barrier waits. A process that ends before they did is aborted.
_PARTING = ("dist.barrier()", "dist.destroy_process_group()")
# What a file may call before the processes are joined: it reads options and asks what there is.
_EARLY = frozenset({"ArgumentParser", "add_argument", "parse_args", "parse_known_args", "device", "is_available"})


def write_entry(job: Job) -> None:
    """Write the helpers that were asked for, and have the script begin by joining the processes."""
    job.helper(SETUP)
    add_imports(job)
    entry = _entry(job)
    lines = lines_of(job)
    statements = [node for node in job.script.module.body if not _is_head(node)]
    if not statements:
        raise Refused("the file holds nothing but imports")
    first = statements[0]
    start = _start(job, statements) if entry is None else entry.node
    _look_at_visible_devices(job, start)
    if entry is not None:
        job.edit(job.editor.insert_first_in_block(start, (f"{SETUP}()",)), JOINED)
    elif start is first:
        lines += [f"{SETUP}()", ""]
    else:
        job.edit(job.editor.insert_statements_before(start, (f"{SETUP}()", "")), JOINED)
    # Two blank lines stand before a definition; other statements have one before them.
    above = [] if _defines(first) or _blank_lines(first) > 1 else [""]
    job.edit(job.editor.insert_statements_before(first, [*above, *lines]), "helpers of the new code")
    _write_end(job, entry)


def _start(job: Job, statements: Sequence[Any]) -> Any:
    """Return the statement before which the processes are joined: the first that does anything, once torch is there.

    Raises Refused where what stands before needs the processes.
    """
    run = next((node for node in statements if not _defines(node)), statements[0])
    body = job.script.module.body
    imported = next((number for number, node in enumerate(body) if _imports_torch(node)), -1)
    start = next((node for node in body[imported + 1 :] if not _defines(node) and not _is_head(node)), None)
    if start is None or _line(job, start) <= _line(job, run):
        return run
    from_line, to_line = _line(job, run), _line(job, start)
    for change in job.changes:
        if any(from_line <= edit.start.line < to_line and "dist." in edit.content for edit in change.edits):
            raise Refused("what stands before the import of torch needs the processes", remedy="import torch first")
    return start


def _line(job: Job, node: Any) -> int:
    (edit,) = job.editor.insert_before(node, "")
    return edit.start.line


def _look_at_visible_devices(job: Job, start: Any) -> None:
    """A process takes its GPU where it is joined; what chooses among them later comes too late."""
    for write in job.project.environment_writes(job.script, "CUDA_VISIBLE_DEVICES"):
        statement = write.at.statement
        if statement.region.scope.function is not None or _line(job, statement.node) >= _line(job, start):
            job.note(
                write.value, "the processes have taken their GPUs by then: set CUDA_VISIBLE_DEVICES before torchrun"
            )


def _imports_torch(node: Any) -> bool:
    small = node.body if type(node).__name__ == "SimpleStatementLine" else ()
    return any(imported.target.split(".")[0] == "torch" for one in small for imported in imports_of(one))


def _blank_lines(node: Any) -> int:
    """Return how many blank lines stand before a statement and its comments."""
    lines = [line.comment is None for line in node.leading_lines]
    return lines.index(False) if False in lines else len(lines)


def _write_end(job: Job, entry: Region | None) -> None:
    """Have the processes part where the script ends, unless it ends by a way of its own.

    Under ``if __name__ == "__main__"`` that is behind the call of ``main()``, whose objects are gone by then: a
    DistributedDataParallel that dies after its process group can be stuck in gloo.
    """
    node: Any = job.script.module if entry is None else entry.node
    last = (node if entry is None else node.body).body[-1]
    if not any(leave.statement.node is last for leave in job.script.exits):
        above = [""] if entry is None else []
        job.edit(job.editor.insert_statements_after(last, [*above, *_PARTING]), PARTED)


def _defines(node: Any) -> bool:
    return type(node).__name__ in ("FunctionDef", "ClassDef")


def _is_head(node: Any) -> bool:
    if type(node).__name__ != "SimpleStatementLine":
        return False
    return all(type(small).__name__ in ("Import", "ImportFrom") or _is_text(small) for small in node.body)


def _is_text(small: Any) -> bool:
    return type(small).__name__ == "Expr" and "String" in type(small.value).__name__


def _entry(job: Job) -> Region | None:
    """Return the block under ``if __name__ == "__main__"`` where nothing but options is read before it."""
    entries = {id(region): region for call in job.script.calls for region in _entries(call)}
    if len(entries) != 1:
        return None
    (entry,) = entries.values()
    before = [call for call in job.script.calls_in(None) if entry not in tuple(call.region.around())]
    return entry if all(last_name(call.callee) in _EARLY for call in before) else None


def _entries(call: Call) -> list[Region]:
    return [region for region in call.region.around() if is_entry_test(region)]
