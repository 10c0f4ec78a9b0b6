"""A line that every rank prints: the console shows it once for each process

## What it finds

`print`, `tqdm.write`, `warnings.warn` and warnings of an unconfigured `logging` that every process of a distributed run
certainly comes to: after the process group was started in the same function, or in functions that such code calls.

It is silent where a test, a decorator or a context lets only some ranks pass, at the line or around every call on the
way; where the text names the rank or the device; where the program replaces `print` or redirects its output; where the
output goes to a file; on error paths; before the group is started and in the process that starts the others; under
switches such as `verbose`; and in functions whose callers can't be seen.

## Why it matters

With eight processes each line comes eight times, in an order that changes from run to run, and in the logs of a large
job the one line that matters is lost. Each rank prints the numbers of its own share of the data, so that the copies
differ and none of them is the result.

## Symptoms

- every line is printed once for each GPU
- the output is repeated by every process

## Example

```python bad
import os

import torch.distributed as dist


def main(epochs):
    dist.init_process_group("nccl")
    rank = int(os.environ["RANK"])
    for epoch in range(epochs):
        loss = train_one_epoch(epoch)
        print(f"epoch {epoch}: loss {loss:.4f}")  #~ DDP601
        if rank == 0:
            save_checkpoint(epoch)
```

```python fixed
import os

import torch.distributed as dist


def main(epochs):
    dist.init_process_group("nccl")
    rank = int(os.environ["RANK"])
    for epoch in range(epochs):
        loss = train_one_epoch(epoch)
        if rank == 0:
            print(f"epoch {epoch}: loss {loss:.4f}")
        if rank == 0:
            save_checkpoint(epoch)
```

A line that says which rank it comes from is meant to come from each of them:

```python good
import os

import torch.distributed as dist


def main():
    dist.init_process_group("nccl")
    rank = int(os.environ["RANK"])
    print(f"rank {rank}: ready")
    dist.barrier()
```

## Fix

Safe: the line is put under the test of the first rank that the script itself uses and that means the same at this
place, under `rank == 0` where the rank is known there, or under `get_rank() == 0` where the process group is certainly
started. It is offered only where the arguments run nothing that could be a collective: names, attributes, numbers,
formatted text and a few harmless calls. Then no rank waits for another one that no longer comes.

## At run time

Confirmed when more than one rank printed the same line from this place. Refuted when one rank alone came here. Not
exercised when the line was not reached, or the run had one process.

## References

- Ranks and `get_rank`: https://docs.pytorch.org/docs/stable/distributed.html#post-initialization
- One process for each GPU, each running the whole script: https://docs.pytorch.org/docs/stable/elastic/run.html
"""

from __future__ import annotations

import re
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
    Trace,
    Verdict,
    guarded,
    last_name,
    quoted,
    ranks_named,
)

RULE = Rule(
    code="DDP601",
    name="print-every-rank",
    impact=Impact.NOISE,
    since="0.1.0",
    triggers=("print", "tqdm", "warn", "logging"),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed", "horovod"},
    applicability=Applicability.SAFE,
)
# What speaks, and the word for what it does.
SPEAKS = {
    "builtins.print": "prints",
    "tqdm.tqdm.write": "prints",
    "tqdm.auto.tqdm.write": "prints",
    "warnings.warn": "warns of",
    "logging.warning": "logs",
    "logging.error": "logs",
    "logging.critical": "logs",
}
CONFIGURES_LOGGING = (b"basicConfig", b"dictConfig", b"fileConfig", b"addHandler", b"setLevel", b"logging.disable")
WORDS = frozenset(name.rpartition(".")[2] for name in SPEAKS)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report what every rank says."""
    if project.role(script) in (Role.TEST, Role.VENDORED):
        return
    lines = [call for call in script.calls if last_name(call.callee) in WORDS and _speaks(call, project)]
    if not lines or project.replaces_print(script):
        return
    for call in lines:
        if project.processes.all_say(call):
            test = project.rank_idioms.test_of_first_rank(call)
            subject = Guard(call, test) if test is not None and project.omissions.can_be_left_out(call) else None
            yield Found(call, _message(call, project), subject=subject)


def _speaks(call: Call, project: Project) -> bool:
    """Whether a call certainly writes to the console of its process."""
    names = project.names(call.callee)
    if not names <= SPEAKS.keys():
        return False
    if any(name.startswith("logging.") for name in names) and project.mentions(call.scope.script, CONFIGURES_LOGGING):
        return False
    return not any(given.keyword == "file" or given.star == "**" for given in call.arguments)


def _message(call: Call, project: Project) -> str:
    verb = SPEAKS[min(project.names(call.callee))]
    return (
        f"every rank {verb} this line, so that it comes once for each process and its copies mix with other output; "
        "put it under a test of the rank, such as `if rank == 0:`"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Put the line under the script's own test of the first rank."""
    result = guarded([found.subject], edits) if isinstance(found.subject, Guard) else None
    if result is None:
        return None
    header, changes = result
    return Fix(Applicability.SAFE, f"say it on the first rank only (`{header}`)", changes)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Compare what the ranks said at the line."""
    if trace.world_size < 2:
        return Verdict.not_exercised("the run had one process")
    said: dict[int, list[str]] = {}
    for event in trace.at(finding.lines, Kind.PRINT, Kind.LOG, Kind.WARNING):
        if event.rank is not None and event["to"] != "file" and event["shown"] is not False:
            said.setdefault(event.rank, []).append(str(event["text"]))
    if not said:
        return Verdict.refuted("nothing was shown on the console", *_came(finding, trace))
    if len(said) == 1:
        return Verdict.refuted(f"{ranks_named(said, trace)} alone said it", *_came(finding, trace))
    evidence = [f"rank {rank}: {quoted(texts[0])} ({len(texts)} times)" for rank, texts in sorted(said.items())]
    if all(_names_itself(texts[0], rank) for rank, texts in said.items()):
        return Verdict.refuted("each rank says which one it is", *evidence)
    return Verdict.confirmed(f"{ranks_named(said, trace)} said this line", *evidence)


def _names_itself(text: str, rank: int) -> bool:
    return any(part.isdigit() and int(part) == rank for part in re.split(r"\D+", text)) and "rank" in text.lower()


def _came(finding: Finding, trace: Trace) -> list[str]:
    return [f"rank {rank} came to the line {count} times" for rank, count in trace.reached(finding.lines).items()]
