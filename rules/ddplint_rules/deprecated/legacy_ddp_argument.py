"""An argument of DistributedDataParallel that is deprecated

## What it finds

`check_reduction=...`, which has done nothing for years, and `broadcast_buffers=...`, in whose place torch 2.13 takes
`forward_sync_buffers`.

It is silent where a script keeps the argument for old versions of torch (under a test of a version, in an `except`
block), for classes of the project's own and for `**options`. With a `torch-version` below 2.13 nothing is said of
`broadcast_buffers`.

## Why it matters

Every process prints a FutureWarning, and a coming version will refuse the argument, on every rank.

The two arguments for the buffers are not the same: `broadcast_buffers=False` leaves the buffers of each rank alone
from the start. `forward_sync_buffers=False` still makes them equal once, when the model is wrapped, and leaves them
alone after that. Where each rank has buffers of its own on purpose, the old argument is to stay for now.

## Symptoms

- FutureWarning: broadcast_buffers is deprecated

## Example

```python bad
from torch.nn.parallel import DistributedDataParallel


def wrap(model, rank):
    return DistributedDataParallel(model, device_ids=[rank], check_reduction=True)  #~ DDP807
```

```python fixed
from torch.nn.parallel import DistributedDataParallel


def wrap(model, rank):
    return DistributedDataParallel(model, device_ids=[rank])
```

Here only the author can say whether the buffers may be made equal at the start:

```python bad
from torch.nn.parallel import DistributedDataParallel


def wrap(model, rank):
    return DistributedDataParallel(model, device_ids=[rank], broadcast_buffers=False)  #~ DDP807
```

```python good
from torch.nn.parallel import DistributedDataParallel


def wrap(model, rank):
    return DistributedDataParallel(model, device_ids=[rank], forward_sync_buffers=False)
```

## Fix

Safe: `check_reduction` is removed, and so is `broadcast_buffers=True`, which is what every version of torch does by
itself. Any other value of `broadcast_buffers` gets the new name, which is unsafe, because the buffers are then made
equal at the start, and only where nothing allows a torch older than 2.13. Arguments without their name have no fix.

## At run time

Confirmed when torch's FutureWarning for this line is seen. Where buffers differ between the ranks before the model is
wrapped, the run says so.

## References

- `broadcast_buffers`, `forward_sync_buffers`, `check_reduction`:
  https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Argument,
    Attribute,
    Call,
    Confidence,
    Constant,
    Editor,
    Finding,
    Fix,
    Found,
    Impact,
    Name,
    Project,
    Rule,
    Script,
    Trace,
    Use,
    Verdict,
    warned_of,
)

RULE = Rule(
    code="DDP807",
    name="legacy-ddp-argument",
    impact=Impact.DEPRECATED,
    since="0.1.0",
    triggers=("check_reduction", "broadcast_buffers"),
    applicability=Applicability.SAFE,
)
WRAP = "torch.nn.parallel.DistributedDataParallel"
CHECKS = "check_reduction"
BUFFERS = "broadcast_buffers"
NEW_BUFFERS = "forward_sync_buffers"
NEW_IN = (2, 13)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the old arguments that are given by name."""
    old = {CHECKS, BUFFERS} if project.torch.allows(NEW_IN) else {CHECKS}
    for reference in project.references(script, WRAP):
        call = reference.call
        if reference.use is not Use.CALLED or call is None or reference.is_fallback:
            continue
        new = any(given.keyword == NEW_BUFFERS for given in call.arguments)
        for given in call.arguments:
            if given.keyword in old and not (new and given.keyword == BUFFERS):
                yield Found(given.node, _message(given), _confidence(given), subject=(project, call, given))


def _confidence(given: Argument) -> Confidence:
    return Confidence.CERTAIN if given.keyword == CHECKS else Confidence.LIKELY


def _message(given: Argument) -> str:
    if given.keyword == CHECKS:
        return f"`{CHECKS}` has no effect, is deprecated and warns in every process; remove it"
    warned = f"`{BUFFERS}` is deprecated since torch 2.13 and warns in every process"
    if _is_constant(given, True):
        return f"{warned}; remove it: this is what torch does by itself"
    return (
        f"{warned}; write `{NEW_BUFFERS}`, unless the ranks have buffers of their own: it makes them equal when the "
        "model is wrapped"
    )


def _is_constant(given: Argument, value: bool) -> bool:
    return isinstance(given.value, Constant) and given.value.value is value


def fix(found: Found, edits: Editor) -> Fix | None:
    """Remove what has no effect, or rename the argument."""
    assert isinstance(found.subject, tuple)
    project, call, given = found.subject
    assert isinstance(project, Project)
    assert isinstance(call, Call)
    assert isinstance(given, Argument)
    if given.keyword == BUFFERS and not _is_constant(given, True):
        return _renamed(project, given, edits)
    if not isinstance(given.value, Constant | Name | Attribute):
        return None
    changes = edits.remove_argument(call.node, given.node)
    return Fix(Applicability.SAFE, "Leave out what has no effect", changes)


def _renamed(project: Project, given: Argument, edits: Editor) -> Fix | None:
    if not project.torch.guarantees(NEW_IN) or given.node.keyword is None:
        return None
    message = "Make the buffers equal when the model is wrapped, and leave them alone after that"
    return Fix(Applicability.UNSAFE, message, edits.replace(given.node.keyword, NEW_BUFFERS))


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for what torch says at the line."""
    return warned_of(finding, trace)
