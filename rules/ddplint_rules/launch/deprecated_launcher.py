"""A script that learns its rank only from the option `--local_rank`, which torchrun does not give

## What it finds

An argparse option `--local_rank` in a program that nowhere reads the variable LOCAL_RANK, and commands that start
`torch.distributed.launch` through `subprocess` or `os.system`.

It is silent where nobody reads the option, where the program sets it itself (`args.local_rank = gpu`), and where
DeepSpeed is in charge, whose launcher gives the option. An option that is (also) spelled `--local-rank` is merely
possible (`--pedantic`): the old launcher still works with it. Shell scripts and documentation are not read.

## Why it matters

`torch.distributed.launch` gave the option; it is deprecated, and since torch 2.0 it gives the spelling with a hyphen,
which argparse refuses where only the underscore is defined. torchrun gives none and sets LOCAL_RANK: every process then
sees the default, so that all of them take the same GPU, or train alone.

## Symptoms

- error: unrecognized arguments: --local-rank=0
- The module torch.distributed.launch is deprecated and will be removed in future. Use torchrun
- KeyError: 'LOCAL_RANK'

## Example

```python bad
import argparse

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=0)  #~ DDP403
args = parser.parse_args()
torch.cuda.set_device(args.local_rank)
dist.init_process_group("nccl")
```

```python fixed
import argparse

import torch
import torch.distributed as dist
import os

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", 0)))
args = parser.parse_args()
torch.cuda.set_device(args.local_rank)
dist.init_process_group("nccl")
```

What torchrun sets counts first:

```python good
import argparse
import os

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
args = parser.parse_args()
if "LOCAL_RANK" in os.environ:
    args.local_rank = int(os.environ["LOCAL_RANK"])
torch.distributed.init_process_group("nccl")
```

A command that starts the old launcher:

```python bad
import subprocess
import sys

import torch.distributed

subprocess.run([sys.executable, "-m", "torch.distributed.launch", "--nproc_per_node=2", "train.py"])  #~ DDP403
```

## Fix

Safe: the default of the option becomes LOCAL_RANK where it is set, and stays what it was where it is not. Whoever gives
the option gets what they give. There is none for an option without a default, and none for commands: `torchrun` takes
other options.

## At run time

Confirmed when the script, started by torchrun, has the same local rank in several processes. Refuted when each has its
own. Not exercised in a run with one process.

## References

- From launch to run: https://docs.pytorch.org/docs/stable/elastic/run.html#transitioning-from-torch-distributed-launch-to-torchrun
- The spelling since 2.0: https://docs.pytorch.org/docs/stable/distributed.html#launch-utility
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Attribute,
    Call,
    Confidence,
    Constant,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Project,
    Role,
    Rule,
    Script,
)

RULE = Rule(
    code="DDP403",
    name="deprecated-launcher",
    impact=Impact.DEPRECATED,
    since="0.1.0",
    triggers=("local_rank", "local-rank", "torch.distributed.launch"),
    everyday=True,
    discharged_by=frozenset({"deepspeed"}),
    applicability=Applicability.SAFE,
)
SPELLINGS = frozenset({"--local_rank", "--local-rank"})
LAUNCHER = "torch.distributed.launch"
STARTS = (
    "subprocess.run",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.Popen",
    "os.system",
)
# Other sources of the local rank: the launchers' variables, or the program itself.
VARIABLES = (b"LOCAL_RANK", b"SLURM_LOCALID")
READ = re.compile(rb"\.local_rank\b|['\"]local_rank['\"]\]").search
SET_BY_PROGRAM = re.compile(rb"\.local_rank\s*=(?!=)(?!\s*[\w.]*\blocal_rank\b)|\blocal_rank\s*=\s*(?:int\()?os\.")


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the options and the commands of the old launcher."""
    if project.role(script) is Role.TEST:
        return
    for call in project.calls(script, *STARTS):
        if any(LAUNCHER in text for given in call.arguments for text in _texts(given.value)):
            yield Found(call, f"`{LAUNCHER}` is deprecated since torch 1.10; start `torchrun` in its place")
    options = [call for call in script.calls if _spellings(call)]
    if not options or project.mentions(script, VARIABLES):
        return
    contents = list(project.contents(script))
    if any(map(SET_BY_PROGRAM.search, contents)) or not any(map(READ, contents)):
        return
    for call in options:
        sure = "--local-rank" not in _spellings(call)
        yield Found(call, _message(call), Confidence.LIKELY if sure else Confidence.POSSIBLE, subject=_default(call))


def _texts(value: Expression) -> Iterator[str]:
    return (part.value for part in value.walk() if isinstance(part, Constant) and isinstance(part.value, str))


def _spellings(call: Call) -> frozenset[str]:
    """Return the spellings of the option that a call defines."""
    if not isinstance(call.callee, Attribute) or call.callee.name != "add_argument":
        return frozenset()
    return (
        frozenset(text for given in call.arguments if given.keyword is None for text in _texts(given.value)) & SPELLINGS
    )


def _default(call: Call) -> Constant | None:
    """Return the number that the option is unless it is given."""
    given = next((given.value for given in call.arguments if given.keyword == "default"), None)
    return given if isinstance(given, Constant) and type(given.value) is int else None


def _message(call: Call) -> str:
    default = _default(call)
    value = "no rank" if default is None else str(default.value)
    return (
        f"only the deprecated {LAUNCHER} gives `{min(_spellings(call))}`; torchrun sets LOCAL_RANK, which nothing here "
        f"reads: every process gets {value}; take the default from LOCAL_RANK"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Take the default of the option from LOCAL_RANK."""
    default = found.subject
    if not isinstance(default, Constant) or not isinstance(found.at, Call):
        return None
    given = next(given for given in found.at.arguments if given.keyword == "default")
    text = f'int(os.environ.get("LOCAL_RANK", {edits.source_text(default.node)}))'
    changes = (*edits.replace_argument(given.node, text), *edits.add_import("import os"))
    return Fix(Applicability.SAFE, "Take the default from LOCAL_RANK", changes)
