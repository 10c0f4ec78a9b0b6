"""A file that every rank writes under the same path: the copies overwrite or break each other

## What it finds

`torch.save`, `save_pretrained`, `numpy.save`, `open(..., "w")`, `savefig`, `shutil.copy` and other calls that write a
file under a path that is the same on all ranks, where every process of a distributed run comes to them: in the function
that starts the process group, or in functions that such code calls. A helper that saves is looked at from its callers,
since the test belongs there.

It is silent where a test, a decorator or a context lets only some ranks pass, at the line or around every call on the
way; where the path holds the rank, the device, the host, the time, a measured value or something that comes from a
rank's share of the data; for distributed checkpoints, which all ranks have to write; for caches, written where no file
was found; in the process that starts the others; and in functions whose callers can't be seen.

## Why it matters

Several processes write one file at the same time. Mostly the last one wins and nobody sees it; sometimes two of them
mix their blocks and the checkpoint can't be read when it is needed. The ranks also keep the disk busy with the same
data, each of them once.

## Symptoms

- checkpoint is damaged
- RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory
- several processes write the same file

## Example

```python bad
import os

import torch
import torch.distributed as dist


def main(args, model):
    dist.init_process_group("nccl")
    rank = int(os.environ["RANK"])
    for epoch in range(args.epochs):
        train_one_epoch(model, epoch)
        torch.save(model.state_dict(), os.path.join(args.output_dir, "last.pt"))  #~ DDP602
        if rank == 0:
            write_summary(epoch)
```

```python fixed
import os

import torch
import torch.distributed as dist


def main(args, model):
    dist.init_process_group("nccl")
    rank = int(os.environ["RANK"])
    for epoch in range(args.epochs):
        train_one_epoch(model, epoch)
        if rank == 0:
            torch.save(model.state_dict(), os.path.join(args.output_dir, "last.pt"))
        if rank == 0:
            write_summary(epoch)
```

Files of their own are meant to be written by each rank:

```python good
import torch
import torch.distributed as dist


def main(args, features):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.save(features, f"{args.output_dir}/features_{rank}.pt")
    dist.barrier()
```

## Fix

Safe: the call is put under the test of the first rank that the script itself uses and that means the same at this
place, under `rank == 0` where the rank is known there, or under `get_rank() == 0` where the process group is certainly
started. It is offered only where the arguments run nothing that could be a collective (the `state_dict` of a sharded
model is one), where the call is a statement of its own, and where the file does not read a checkpoint afterwards: other
ranks would have to wait for the first one there.

## At run time

Confirmed when several ranks wrote one path from this place. Refuted when one rank alone did, or each its own path. Not
exercised when the line was not reached, or the run had one process.

## References

- Saving and loading with DistributedDataParallel: https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html
- Distributed checkpoints: https://docs.pytorch.org/docs/stable/distributed.checkpoint.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Call,
    Editor,
    Finding,
    Fix,
    Found,
    Guard,
    Impact,
    Kind,
    Project,
    Role,
    Rule,
    Script,
    SharedSave,
    Trace,
    Verdict,
    WriteKind,
    guarded,
    last_name,
    ranks_named,
    written,
)

RULE = Rule(
    code="DDP602",
    name="save-every-rank",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("save", "open", "dump", "checkpoint", "to_csv", "imwrite", "copy", "export"),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"horovod"},
    applicability=Applicability.SAFE,
)


# What may read a file that was saved.
READS = frozenset({"load", "load_checkpoint", "load_file", "from_pretrained", "open", "read_csv", "imread"})


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report what every rank saves."""
    if project.role(script) in (Role.TEST, Role.VENDORED):
        return
    for save in project.saves.of(script, WriteKind.WHOLE):
        write = save.writes[0]
        related = () if write.call is save.place else ((write.call, "this writes the file"),)
        yield Found(save.place, _message(save), related=related, subject=_guard(save.place, project))


def _message(save: SharedSave) -> str:
    path = written(save.writes[0].path)
    what = f"writes `{path}`" if save.writes[0].call is save.place else f"saves with `{last_name(save.place.callee)}`"
    return (
        f"every rank {what}, so that several processes write one file at the same time and can break it; "
        "save on one rank, such as under `if rank == 0:`"
    )


def _guard(line: Call, project: Project) -> Guard | None:
    if not project.omissions.can_be_left_out(line) or _is_read_after(line, project):
        return None
    test = project.rank_idioms.test_of_first_rank(line)
    return None if test is None else Guard(line, test)


def _is_read_after(line: Call, project: Project) -> bool:
    """Whether the file around a save reads what it may have saved, at a time when other ranks may be ahead."""
    script = line.scope.script
    inside = line.scope.function
    written_to = {id(write.call) for write in project.writes.of(script)}
    reads = (call for call in script.calls if last_name(call.callee) in READS and id(call) not in written_to)
    return any(read.order > line.order or read.scope.function is not inside or read.region.loops for read in reads)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Put the save under the script's own test of the first rank."""
    result = guarded([found.subject], edits) if isinstance(found.subject, Guard) else None
    if result is None:
        return None
    header, changes = result
    return Fix(Applicability.SAFE, f"save on the first rank only (`{header}`)", changes)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Compare the paths that the ranks wrote to from the line."""
    if trace.world_size < 2:
        return Verdict.not_exercised("the run had one process")
    writers: dict[str, set[int]] = {}
    for event in trace.below(finding.lines, Kind.SAVE, Kind.WRITE):
        if event.rank is not None and (event.kind is Kind.SAVE or event["what"] == "open"):
            writers.setdefault(event["path"], set()).add(event.rank)
    evidence = [f"{ranks_named(ranks, trace)} wrote {path}" for path, ranks in sorted(writers.items())]
    shared = [path for path, ranks in writers.items() if len(ranks) > 1]
    if shared:
        return Verdict.confirmed(f"{ranks_named(writers[shared[0]], trace)} wrote {shared[0]}", *evidence)
    if not writers:
        return Verdict.not_exercised("the line wrote no file that the run could see")
    return Verdict.refuted("no file was written by two ranks", *evidence)
