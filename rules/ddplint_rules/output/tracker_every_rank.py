"""A tracker or log file that every rank opens: one run for each process, or the lines of all of them in one file

## What it finds

`SummaryWriter`, `wandb.init`, `mlflow.start_run`, the starts of Comet, Neptune, ClearML and others, and files that are
opened for appending or for rows of CSV, that every process of a distributed run comes to: in the function that starts
the process group, before or after it does, or in functions that such code calls.

It is silent where a test, a decorator or a context lets only some ranks pass, at the line or around every call on the
way; where runs are grouped by design (`group=`), switched off (`mode="disabled"`) or hold the rank in one of their
arguments; in the process that starts the others; and in functions whose callers can't be seen.

## Why it matters

The dashboard shows eight runs instead of one, or one whose curve jumps between the numbers of eight ranks, each of
them measured on its own share of the data. The files of eight writers lie in one folder and are all read again; lines
that several processes add to one file come in any order, and headers come several times.

## Symptoms

- a run appears several times in wandb or tensorboard
- curves of the logger are zigzag

## Example

```python bad
import os

import torch.distributed as dist
from torch.utils.tensorboard import SummaryWriter


def main(args):
    dist.init_process_group("nccl")
    rank = int(os.environ["RANK"])
    writer = SummaryWriter(args.log_dir)  #~ DDP605
    for epoch in range(args.epochs):
        loss = train_one_epoch(epoch)
        writer.add_scalar("loss", loss, epoch)
    writer.close()
    if rank == 0:
        summarise(args)
```

```python fixed
import os

import torch.distributed as dist
from torch.utils.tensorboard import SummaryWriter


def main(args):
    dist.init_process_group("nccl")
    rank = int(os.environ["RANK"])
    if rank == 0:
        writer = SummaryWriter(args.log_dir)
    for epoch in range(args.epochs):
        loss = train_one_epoch(epoch)
        if rank == 0:
            writer.add_scalar("loss", loss, epoch)
    if rank == 0:
        writer.close()
    if rank == 0:
        summarise(args)
```

A run of its own for each rank is made on purpose:

```python good
import os

import torch.distributed as dist
import wandb


def main(args):
    dist.init_process_group("nccl")
    wandb.init(project="speech", group=args.experiment, name=f"rank {os.environ['RANK']}")
```

## Fix

Safe where every use of the writer is in sight: calls of its methods in the same function, or for `wandb` and the like
calls in the only file that names it. The start and each use that is not under such a test are put under the test of the
first rank that the script itself uses, if it means the same at all of these places. Where an argument of a use could
run a collective, which the other ranks would then no longer join, the fix is unsafe. Where the writer is handed on,
there is none.

## At run time

Confirmed when several ranks opened a run or the same log file from this place. Refuted when one rank alone did. Not
exercised when the line was not reached, or the run had one process.

## References

- SummaryWriter: https://docs.pytorch.org/docs/stable/tensorboard.html
- Distributed training with W&B: https://docs.wandb.ai/guides/track/log/distributed-training/
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Call,
    Constant,
    Editor,
    Expression,
    Finding,
    Fix,
    Found,
    Guard,
    Impact,
    Kind,
    Project,
    Role,
    Rule,
    Sameness,
    Script,
    Trace,
    Verdict,
    WriteKind,
    done_by_ranks,
    guarded,
    is_whole_statement,
    last_name,
    written,
)

RULE = Rule(
    code="DDP605",
    name="tracker-every-rank",
    impact=Impact.NOISE,
    since="0.1.0",
    triggers=(
        "SummaryWriter",
        "wandb",
        "mlflow",
        "comet_ml",
        "neptune",
        "clearml",
        "swanlab",
        "aim",
        "open",
        "summary",
    ),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"horovod"},
    applicability=Applicability.SAFE,
)
# What opens a run or its files.
TRACKERS = frozenset(
    {
        "torch.utils.tensorboard.SummaryWriter",
        "torch.utils.tensorboard.writer.SummaryWriter",
        "tensorboardX.SummaryWriter",
        "tensorboardX.writer.SummaryWriter",
        "tensorflow.summary.create_file_writer",
        "tensorflow.summary.FileWriter",
        "tensorflow.compat.v1.summary.FileWriter",
        "tensorboard_logger.Logger",
        "tensorboard_logger.configure",
        "wandb.init",
        "mlflow.start_run",
        "comet_ml.Experiment",
        "comet_ml.OfflineExperiment",
        "comet_ml.start",
        "neptune.init",
        "neptune.init_run",
        "neptune.new.init",
        "neptune.new.init_run",
        "clearml.Task.init",
        "swanlab.init",
        "aim.Run",
    }
)
WORDS = frozenset(name.rpartition(".")[2] for name in TRACKERS)


# Modules that keep the run for everybody who calls them.
KEEPERS = frozenset({"wandb", "mlflow", "swanlab"})


@dataclass(frozen=True, slots=True)
class Guards:
    """The statements to guard; ``sure``: none of them can make other ranks wait."""

    lines: tuple[Guard, ...]
    sure: bool


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report what every rank opens."""
    if project.role(script) in (Role.TEST, Role.VENDORED):
        return
    for call in script.calls:
        if _opens_run(call, project) and project.processes.all_come_to(call, early=True):
            yield Found(call, _message(call), subject=_guards(call, project))
    for save in project.saves.of(script, WriteKind.LOG):
        path = written(save.writes[0].path)
        related = () if save.writes[0].call is save.place else ((save.writes[0].call, "this opens the file"),)
        yield Found(
            save.place,
            f"every rank adds its lines to `{path}`, so that they come once for each process and in any order; "
            "write them on one rank, such as under `if rank == 0:`",
            related=related,
        )


def _opens_run(call: Call, project: Project) -> bool:
    """Whether a call opens a run of a tracker that is not meant for its rank alone."""
    if last_name(call.callee) not in WORDS or not project.names(call.callee) <= TRACKERS:
        return False
    if any(given.keyword == "group" or _is_off(given.value) for given in call.arguments):
        return False
    return all(project.same_values.of(given.value) is not Sameness.OWN for given in call.arguments)


def _is_off(value: Expression) -> bool:
    """Whether an argument is ``mode="disabled"``."""
    return isinstance(value, Constant) and value.value == "disabled"


def _message(call: Call) -> str:
    return (
        f"every rank opens a run with `{written(call.callee)}`, so that the dashboard mixes the numbers of all "
        "processes; open it on one rank, such as under `if rank == 0:`"
    )


def _guards(start: Call, project: Project) -> Guards | None:
    """Return what is to be guarded for one rank alone to have the run, None where that can't be seen."""
    keeper = next(iter(project.names(start.callee))).partition(".")[0]
    if keeper in KEEPERS and is_whole_statement(start):
        uses = project.single_uses.of_module(start, keeper)
    else:
        uses = project.single_uses.of_object(start)
    if uses is None:
        return None
    lines = (start, *uses)
    found = [Guard(line, test) for line in lines if (test := project.rank_idioms.test_of_first_rank(line)) is not None]
    if len(found) != len(lines):
        return None
    quiet = (project.omissions.is_quiet(*(given.value for given in line.arguments)) for line in lines)
    return Guards(tuple(found), all(quiet))


def fix(found: Found, edits: Editor) -> Fix | None:
    """Put the start and every use under the script's own test of the first rank."""
    if not isinstance(found.subject, Guards):
        return None
    result = guarded(found.subject.lines, edits)
    if result is None:
        return None
    header, changes = result
    applicability = Applicability.SAFE if found.subject.sure else Applicability.UNSAFE
    return Fix(applicability, f"open and use it on the first rank only (`{header}`)", changes)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Count the ranks that opened a tracker from the line."""
    return done_by_ranks(trace.below(finding.lines, Kind.TRACKER), trace, "opened a tracker")
