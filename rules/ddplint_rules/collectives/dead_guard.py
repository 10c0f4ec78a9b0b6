"""A test of the rank that comes out the same on every rank, because of what it compares

## What it finds

Comparisons that can't tell the ranks apart:

- the text of an environment variable with a number: `os.environ["RANK"] == 0`;
- an option without `type=`, which is text when it is given, with a number: `args.local_rank == 0`;
- a rank that is a number with text or a list: `dist.get_rank() == "0"`;
- a rank with the number of processes: `rank == world_size`;
- `rank == 0 and rank == 1`, and `rank != 0 or rank != 1`.

It is silent for tests whether there is a rank at all (`!= -1`), where a value can also be something else, and where the
program sets the option itself.

## Why it matters

`"0" == 0` is False, without a warning. What the test guards runs on no rank, so that no checkpoint is ever written, or
with `!=` on all of them: every process saves, prints and logs, or every process returns early.

## Symptoms

- code for rank 0 runs on every rank
- a test of the rank is true everywhere

## Example

```python bad
import os

import torch
import torch.distributed as dist


def main(model):
    dist.init_process_group("nccl")
    train(model)
    if os.environ["RANK"] == 0:  #~ DDP515
        torch.save(model.state_dict(), "model.pt")
```

```python good
import os

import torch
import torch.distributed as dist


def main(model):
    dist.init_process_group("nccl")
    train(model)
    if int(os.environ["RANK"]) == 0:
        torch.save(model.state_dict(), "model.pt")
```

## Fix

None: with a test that works other ranks come to the code behind it than before, and only the author knows which were
meant. Convert the rank with `int(...)`, or give the option `type=int`.

## At run time

Confirmed when the test came out the same on all ranks of a run with several processes. Refuted when it differed. Not
exercised when the line was not reached, or the run had one process.

## References

- `os.environ` holds text: https://docs.python.org/3/library/os.html#os.environ
- `type` of an option: https://docs.python.org/3/library/argparse.html#type
- The variables that torchrun sets: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import Confidence, Deadness, DeadTest, Found, Impact, Project, Role, Rule, Script, written

RULE = Rule(
    code="DDP515",
    name="dead-guard",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("rank", "RANK", "PROCID"),
    everyday=True,
)
CAUSES = {
    Deadness.TEXT: "`{rank}` is text, which equals no number",
    Deadness.OPTION: "`{rank}` is an option without a type: text, which equals no number, where it is given",
    Deadness.NUMBER: "`{rank}` is a number, which equals no text",
    Deadness.LIST: "`{rank}` is a number, which equals no list",
    Deadness.WORLD_SIZE: "ranks count from 0, so that none is as large as the number of processes",
    Deadness.CONTRADICTION: "`{rank}` is one number only",
}
REMEDIES = {
    Deadness.TEXT: "convert it with `int(...)`",
    Deadness.OPTION: "give the option `type=int`",
    Deadness.NUMBER: "compare it with a number",
    Deadness.LIST: "compare it with a number, or ask with `in`",
    Deadness.WORLD_SIZE: "the last rank is the number of processes - 1",
    Deadness.CONTRADICTION: "say which ranks are meant",
}


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the tests of the rank that come out the same everywhere."""
    if project.role(script) is Role.VENDORED:
        return
    for dead in project.dead_tests.of(script):
        confidence = Confidence.LIKELY if dead.why is Deadness.OPTION else Confidence.CERTAIN
        yield Found(dead.at, _message(dead), confidence)


def _message(dead: DeadTest) -> str:
    if dead.why is Deadness.OPTION:
        outcome = "comes out the same on every rank"
    else:
        outcome = "holds on every rank" if dead.holds else "holds on no rank"
    cause = CAUSES[dead.why].format(rank=written(dead.rank))
    return f"this test {outcome}: {cause}; what it guards runs on all ranks or on none; {REMEDIES[dead.why]}"
