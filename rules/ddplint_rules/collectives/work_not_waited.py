"""An asynchronous collective that nobody waits for, or whose result is read before it is done

## What it finds

Collectives of torch.distributed with `async_op=True`, `isend` and `irecv`:

- what they return is dropped, or goes into a variable or a list that nobody looks at afterwards;
- the tensor into which they write is read in the same block before the first `wait()`.

It is silent where the handle is returned, stored in an object or handed to code that can't be read, and where only the
shape or the device of the tensor is asked for. Where the GPU is synchronised somewhere in the file, or another exchange
is waited for behind this one, it is reported with `--pedantic`.

## Why it matters

The call comes back at once, while the exchange is still going on. Who reads the tensor then gets its own numbers,
those of all ranks or a mixture, as it happens, and without any error: a gradient that is averaged on some ranks only,
a metric that is a little wrong. Who writes into it changes what the others get.

## Symptoms

- results are wrong now and then with async_op=True
- gathered tensors hold old numbers

## Example

```python bad
import torch.distributed as dist


def average(loss):
    dist.all_reduce(loss, async_op=True)  #~ DDP505
    return loss / dist.get_world_size()
```

```python fixed
import torch.distributed as dist


def average(loss):
    dist.all_reduce(loss)
    return loss / dist.get_world_size()
```

The exchange goes on while something else is computed:

```python good
import torch.distributed as dist


def average(loss, model, inputs):
    work = dist.all_reduce(loss, async_op=True)
    outputs = model(inputs)
    work.wait()
    return loss / dist.get_world_size(), outputs
```

```python bad
import torch.distributed as dist


def average(loss):
    work = dist.all_reduce(loss, async_op=True)
    mean = loss / dist.get_world_size()  #~ DDP505
    work.wait()
    return mean
```

## Fix

Unsafe, where nobody waits: `async_op=True` is left out, so that the call itself waits. Two ranks that come to their
exchanges in a different order may have got along without waiting. There is no fix for `isend` and `irecv`, and none for
a result that is read too early: what comes between may be meant to run meanwhile.

## At run time

Confirmed when the tensor was read, or the handle was thrown away, before the exchange was done. Refuted when somebody
waited for it first. Not exercised when the line was not reached.

## References

- Asynchronous collectives: https://docs.pytorch.org/docs/stable/distributed.html#synchronous-and-asynchronous-collective-operations
- isend and irecv: https://docs.pytorch.org/docs/stable/distributed.html#point-to-point-communication
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Argument,
    Call,
    Confidence,
    Editor,
    Finding,
    Fix,
    Found,
    Impact,
    Kind,
    Pending,
    Project,
    Role,
    Rule,
    Script,
    Trace,
    Verdict,
    written,
)

RULE = Rule(
    code="DDP505",
    name="work-not-waited",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("async_op", "isend", "irecv"),
    applicability=Applicability.UNSAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the exchanges that nobody waits for in time."""
    if project.role(script) in (Role.TEST, Role.VENDORED):
        return
    for pending in project.pending_works.of(script):
        yield _found(pending)


def _found(pending: Pending) -> Found:
    call, read = pending.call, pending.read
    exchange = f"`{written(call.callee)}`"
    if read is not None:
        message = (
            f"`{read.id}` is read before {exchange} is done: its numbers are those of before, of after or a mixture; "
            "call `wait()` first"
        )
        return Found(read, message, related=((call, "the exchange that is going on"),))
    told = next((given for given in call.arguments if given.keyword == "async_op"), None)
    remedy = "keep what it returns and call `wait()`" + ("" if told is None else ", or leave out `async_op=True`")
    message = (
        f"nobody waits for {exchange}: what comes next may read its tensor, or write into it, before it is done; "
        f"{remedy}"
    )
    confidence = Confidence.POSSIBLE if pending.doubtful else Confidence.LIKELY
    return Found(call, message, confidence, subject=told)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Let the call itself wait."""
    told, call = found.subject, found.at
    if not isinstance(told, Argument) or not isinstance(call, Call):
        return None
    return Fix(Applicability.UNSAFE, "let the call wait", edits.remove_argument(call.node, told.node))


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for work of the line that nobody waited for."""
    works = [event for event in trace.at(finding.lines, Kind.COLLECTIVE) if event["asynchronous"]]
    if not works:
        return Verdict.not_exercised("no asynchronous collective was seen here")
    waited = {(event.process.pid, event["of"]) for event in trace.of(Kind.WAIT)}
    open_ = [event for event in works if (event.process.pid, event["call"]) not in waited]
    evidence = f"{len(open_)} of {len(works)} were never waited for"
    if open_:
        return Verdict.confirmed(f"{open_[0]['op']} was not waited for", evidence)
    return Verdict.refuted("each was waited for", evidence)
