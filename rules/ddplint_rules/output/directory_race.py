"""A folder or file that every rank makes, moves or removes: one rank succeeds, the others fail

## What it finds

`os.mkdir`, `os.makedirs` and `Path.mkdir` without `exist_ok=True`, also under `if not os.path.exists(...)`, and
`shutil.rmtree`, `shutil.move`, `os.rename`, `os.replace`, `os.remove` and `os.rmdir`, that every process of a
distributed run comes to with the same path: in the function that starts the process group, before or after it does,
or in functions that such code calls.

It is silent where a test, a decorator or a context lets only some ranks pass, at the line or around every call on the
way; where the path holds the rank, the device or the host; where the error is caught; in the process that starts the
others; and in functions whose callers can't be seen. A path that holds the time is only a possible finding.

## Why it matters

The ranks run the same line within microseconds. Between the question whether a folder exists and its making another
rank has made it: `FileExistsError` on some ranks, now and then, and the job dies or the others wait for the dead ones.
What one rank removed or moved the next one does not find.

## Symptoms

- FileExistsError: [Errno 17] File exists
- a run makes several folders, seconds apart

## Example

```python bad
import os

import torch.distributed as dist


def main(args):
    dist.init_process_group("nccl")
    if not os.path.exists(args.output_dir):
        os.makedirs(args.output_dir)  #~ DDP609
    train(args)
```

```python fixed
import os

import torch.distributed as dist


def main(args):
    dist.init_process_group("nccl")
    if not os.path.exists(args.output_dir):
        os.makedirs(args.output_dir, exist_ok=True)
    train(args)
```

What is removed or moved is removed or moved once, and the other ranks wait for it:

```python good
import os
import shutil

import torch.distributed as dist


def main(args):
    dist.init_process_group("nccl")
    if dist.get_rank() == 0 and os.path.exists(args.output_dir):
        shutil.rmtree(args.output_dir)
    dist.barrier()
    os.makedirs(args.output_dir, exist_ok=True)
```

## Fix

Safe: `exist_ok=True` is added; `os.mkdir` becomes `os.makedirs`. A run that made the folder makes it as before, and one
that found it does not fail. Nothing is offered for what removes or moves: the other ranks have to wait for it, and
whether they all come to such a place only the author can say.

## At run time

Confirmed when several ranks made, moved or removed the same path from this place. Refuted when one rank alone did. Not
exercised when the line was not reached, or the run had one process.

## References

- `exist_ok`: https://docs.python.org/3/library/os.html#os.makedirs
- One process for each GPU, each running the whole script: https://docs.pytorch.org/docs/stable/elastic/run.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Attribute,
    Call,
    Confidence,
    Constant,
    Edit,
    Editor,
    Expression,
    Finding,
    Fix,
    Found,
    Impact,
    Kind,
    Project,
    Role,
    Rule,
    Sameness,
    Script,
    Trace,
    Verdict,
    caught,
    done_by_ranks,
    last_name,
    written,
)

RULE = Rule(
    code="DDP609",
    name="directory-race",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("mkdir", "makedirs", "rmtree", "rename", "replace", "remove", "unlink", "rmdir", "shutil"),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"horovod"},
    applicability=Applicability.SAFE,
)
MAKES = frozenset({"os.mkdir", "os.makedirs"})
# What it does, and what a rank that comes too late does not find.
CHANGES = {
    "shutil.rmtree": "removes",
    "os.remove": "removes",
    "os.unlink": "removes",
    "os.rmdir": "removes",
    "os.removedirs": "removes",
    "shutil.move": "moves",
    "os.rename": "moves",
    "os.renames": "moves",
    "os.replace": "moves",
}
WORDS = frozenset(name.rpartition(".")[2] for name in (*MAKES, *CHANGES))
EXCUSES = frozenset(
    {
        "FileExistsError",
        "FileNotFoundError",
        "OSError",
        "IOError",
        "EnvironmentError",
        "error",
        "Exception",
        "BaseException",
    }
)
OF_PATHS = frozenset({"mode", "parents", "exist_ok"})


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report what every rank makes, moves or removes."""
    if project.role(script) in (Role.TEST, Role.VENDORED):
        return
    for call in script.calls:
        if last_name(call.callee) not in WORDS:
            continue
        path = _path(call, project)
        if path is None or caught(call.region) & EXCUSES or not project.processes.all_come_to(call, early=True):
            continue
        sameness = project.same_values.of(path)
        if sameness is not Sameness.OWN:
            confidence = Confidence.LIKELY if sameness is Sameness.SAME else Confidence.POSSIBLE
            name = "makedirs" if project.certainly(call.callee, "os.mkdir") else None
            yield Found(call, _message(call, path, project), confidence=confidence, subject=name)


def _path(call: Call, project: Project) -> Expression | None:
    """Return the path that a call makes, moves or removes and fails at when another rank was first."""
    names = project.names(call.callee)
    keywords = {given.keyword: given.value for given in call.arguments if given.keyword is not None}
    first = next((given.value for given in call.arguments if given.keyword is None and not given.star), None)
    if names <= CHANGES.keys():
        return None if _is_on(keywords.get("ignore_errors")) else first
    if names <= MAKES:
        positional = [given for given in call.arguments if given.keyword is None]
        allowed = positional[2].value if len(positional) > 2 else keywords.get("exist_ok")
        return None if _is_on(allowed) else first or keywords.get("name") or keywords.get("path")
    if not isinstance(call.callee, Attribute) or call.callee.name != "mkdir" or first is not None:
        return None
    if project.resolver.function_of(call) is not None:
        return None
    return call.callee.base if keywords.keys() <= OF_PATHS and not _is_on(keywords.get("exist_ok")) else None


def _is_on(value: Expression | None) -> bool:
    """Whether an option can be on: everything but False or nothing."""
    return value is not None and not (isinstance(value, Constant) and value.value is False)


def _message(call: Call, path: Expression, project: Project) -> str:
    verb = next((CHANGES[name] for name in project.names(call.callee) if name in CHANGES), None)
    if verb is None:
        return (
            f"every rank makes `{written(path)}`, and one that comes second fails with FileExistsError, even behind a "
            "test that found nothing; pass `exist_ok=True`"
        )
    return (
        f"every rank {verb} `{written(path)}`, and one that comes second no longer finds it; do it on one rank and let "
        "the others wait at a barrier"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Let the folder be there already."""
    call = found.at
    if not isinstance(call, Call) or last_name(call.callee) not in ("mkdir", "makedirs"):
        return None
    renamed: tuple[Edit, ...] = ()
    if found.subject is not None:
        if not isinstance(call.callee, Attribute):
            return None
        renamed = edits.replace(call.callee.node, f"{edits.source_text(call.callee.base.node)}.{found.subject}")
    allowed = next((given for given in call.arguments if given.keyword == "exist_ok"), None)
    added = (
        edits.insert_argument(call.node, "exist_ok=True")
        if allowed is None
        else edits.replace_argument(allowed.node, "True")
    )
    return Fix(Applicability.SAFE, "let the folder be there already (`exist_ok=True`)", (*renamed, *added))


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Count the ranks that made, moved or removed one path from the line."""
    written = [event for event in trace.below(finding.lines, Kind.WRITE) if event["what"] != "open"]
    paths = [str(event["path"]) for event in written]
    most = max(paths, key=paths.count, default="")
    judged = done_by_ranks([one for one in written if one["path"] == most], trace, f"changed {most or 'a path'}")
    if len({one.rank for one in written}) == 1 and trace.world_size > 1:
        return Verdict.not_exercised("one rank was first, and the others found its work: a race is met by chance")
    return judged
