"""Collectives and operations of torch.distributed under names that are deprecated or gone

## What it finds

- `torch.distributed.reduce_op` and its members, which are `ReduceOp` today
- `all_gather_into_tensor` and `reduce_scatter_tensor`, which torch 2.13 calls `all_gather_single` and
  `reduce_scatter_single`, and the private `_all_gather_base` and `_reduce_scatter_base` before them
- `all_reduce_coalesced` and `all_gather_coalesced`, which will go
- the collectives that end in `_multigpu`, which are gone since torch 2.2

It is silent where a script keeps the old name for old versions of torch: under a test of a version or of a feature, in
an `except` block, and under a name that may also stand for something of the script's own. What is of a torch newer than
`torch-version` is not reported.

## Why it matters

Every process warns when it comes to a deprecated name, and a coming version will not have it. One that is gone is an
AttributeError on every rank.

## Symptoms

- AttributeError: module 'torch.distributed' has no attribute 'reduce_op'
- FutureWarning: `torch.distributed.all_gather_into_tensor` is deprecated
- FutureWarning: `torch.distributed._all_gather_base` is deprecated

## Example

```python bad
import torch.distributed as dist


def average(tensor):
    dist.all_reduce(tensor, op=dist.reduce_op.SUM)  #~ DDP805
    return tensor / dist.get_world_size()
```

```python fixed
import torch.distributed as dist


def average(tensor):
    dist.all_reduce(tensor, op=dist.ReduceOp.SUM)
    return tensor / dist.get_world_size()
```

```python good
import torch.distributed as dist


def gather(output, tensor):
    if hasattr(dist, "all_gather_single"):
        return dist.all_gather_single(output, tensor)
    return dist.all_gather_into_tensor(output, tensor)
```

## Fix

Safe for `reduce_op` with its module in front: its members are those of `ReduceOp`, in every version of torch. The names
of torch 2.13 take the same arguments and do the same; that fix is safe where the requirements of the project ask for
torch 2.13, unsafe where nothing says which torch is meant, and there is none where an older one is allowed. What ends
in `_coalesced` or `_multigpu` has no successor that takes the same arguments.

## At run time

Confirmed when torch's FutureWarning for this line is seen, or its AttributeError. Not exercised when the line was never
reached.

## References

- Collective functions: https://docs.pytorch.org/docs/stable/distributed.html#collective-functions
- `ReduceOp`: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.ReduceOp
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Attribute,
    Confidence,
    Editor,
    Finding,
    Fix,
    Found,
    Impact,
    Project,
    Reference,
    Rename,
    Rule,
    Script,
    Trace,
    Use,
    Verdict,
    last_name,
    warned_of,
)

RULE = Rule(
    code="DDP805",
    name="legacy-collective",
    impact=Impact.DEPRECATED,
    since="0.1.0",
    triggers=(
        "reduce_op",
        "_gather_into_tensor",
        "reduce_scatter_tensor",
        "_all_gather_base",
        "_reduce_scatter_base",
        "_coalesced",
        "_multigpu",
    ),
    applicability=Applicability.SAFE,
)
OPERATION = "torch.distributed.reduce_op"
MEMBERS = frozenset(
    f"{OPERATION}.{member}" for member in ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM")
)
# Old names of what torch 2.13 has under a new one, and whether they were public until then.
RENAMED = {
    "torch.distributed.all_gather_into_tensor": ("all_gather_single", True),
    "torch.distributed.reduce_scatter_tensor": ("reduce_scatter_single", True),
    "torch.distributed._all_gather_base": ("all_gather_single", False),
    "torch.distributed._reduce_scatter_base": ("reduce_scatter_single", False),
}
RENAMED_IN = (2, 13)
LEAVING = frozenset({"torch.distributed.all_reduce_coalesced", "torch.distributed.all_gather_coalesced"})
GONE = frozenset(
    f"torch.distributed.{name}_multigpu"
    for name in ("all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter")
)
GONE_IN = (2, 2)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the uses of the old names."""
    for reference in project.references(script, OPERATION, *MEMBERS, *RENAMED, *LEAVING, *GONE):
        if reference.use is not Use.TYPE and not reference.is_fallback and _is_old(reference, project):
            gone = reference.name in GONE
            yield Found(
                reference.expression,
                _message(reference, project),
                Confidence.LIKELY if gone or reference.name in RENAMED else Confidence.CERTAIN,
                subject=(project, reference),
                impact=Impact.CRASH if gone else None,
            )


def _is_old(reference: Reference, project: Project) -> bool:
    """Whether a torch that the project is for has the name no longer, or wants another."""
    if reference.name in GONE:
        return project.torch.allows(GONE_IN)
    return reference.name not in RENAMED or not RENAMED[reference.name][1] or project.torch.allows(RENAMED_IN)


def _message(reference: Reference, project: Project) -> str:
    name = reference.name
    if name in GONE:
        return f"`{name}` is gone since torch 2.2, and every process fails here; run one process for each GPU"
    if name in LEAVING:
        return f"`{name}` warns in every process and will go; put the tensors into one, or exchange them one by one"
    if name in RENAMED:
        successor = _successor(name, project)
        since = " since torch 2.13" if RENAMED[name][1] else ""
        return f"`{name}` is deprecated{since} and warns in every process; write `{successor}`"
    return f"`{name}` is deprecated and warns in every process; write `{name.replace('reduce_op', 'ReduceOp')}`"


def _successor(name: str, project: Project) -> str:
    """Return the name that the newest torch of the project has."""
    single, _ = RENAMED[name]
    if project.torch.allows(RENAMED_IN):
        return f"torch.distributed.{single}"
    return next(old for old, (new, is_public) in RENAMED.items() if new == single and is_public)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Write the name of today."""
    assert isinstance(found.subject, tuple)
    project, reference = found.subject
    assert isinstance(project, Project)
    assert isinstance(reference, Reference)
    if reference.name in RENAMED:
        return _renamed(Rename(project, reference, RENAMED[reference.name][0]), edits)
    operation = reference.expression
    if reference.name in MEMBERS and isinstance(operation, Attribute) and isinstance(operation.base, Attribute):
        operation = operation.base
    if reference.name in GONE | LEAVING or last_name(operation) != "reduce_op" or not isinstance(operation, Attribute):
        return None
    changes = edits.replace(operation.node, f"{edits.source_text(operation.base.node)}.ReduceOp")
    return Fix(Applicability.SAFE, "Use `ReduceOp`", changes)


def _renamed(rename: Rename, edits: Editor) -> Fix | None:
    """Return the fix that needs torch 2.13, None where an older one is allowed."""
    lowest, is_unknown = rename.project.torch.lowest, rename.project.torch.highest is None
    is_new = lowest is not None and lowest >= RENAMED_IN
    if not is_new and not (lowest is None and is_unknown):
        return None
    changes = rename.edits(edits)
    promise = Applicability.SAFE if is_new else Applicability.UNSAFE
    return Fix(promise, f"Use `{rename.new}` of torch 2.13", changes) if changes else None


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for what torch says at the line."""
    return warned_of(finding, trace)
