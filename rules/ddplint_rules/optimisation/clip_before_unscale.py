"""Gradients are clipped while they still carry the scale of the loss scaler

## What it finds

`clip_grad_norm_` or `clip_grad_value_`, called itself or through a function of the project, between the backward pass
of a scaled loss (`scaler.scale(loss).backward()`) and `scaler.step(optimizer)`, with no `scaler.unscale_(optimizer)`
between them.

It is silent where a call in between may unscale (a function that does, something unreadable that is given the scaler),
where a test keeps the clip apart from the scaled way (`if scaler is None`), where another loss that is not scaled runs
backward in between, and for a scaler that is switched off (`enabled=False`).

## Why it matters

The scaler multiplies the loss by a large number, 65536 at the start, and with it every gradient; `scaler.step` divides
it out again. A limit of 1.0 that is applied before that cuts every gradient down to a norm of 1 / 65536. The optimizer
hardly moves, or, with Adam, moves as if there were no clipping at all, and the limit changes whenever the scale does.

## Symptoms

- gradient clipping has no effect, or stops the training, with mixed precision
- gradient norm is huge with GradScaler

## Example

```python bad
import torch
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import clip_grad_norm_


def train(model, loader, optimizer, criterion):
    model = DistributedDataParallel(model)
    scaler = torch.amp.GradScaler("cuda")
    for inputs, targets in loader:
        optimizer.zero_grad()
        with torch.amp.autocast("cuda"):
            loss = criterion(model(inputs), targets)
        scaler.scale(loss).backward()
        clip_grad_norm_(model.parameters(), 1.0)  #~ DDP304
        scaler.step(optimizer)
        scaler.update()
```

```python fixed
import torch
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import clip_grad_norm_


def train(model, loader, optimizer, criterion):
    model = DistributedDataParallel(model)
    scaler = torch.amp.GradScaler("cuda")
    for inputs, targets in loader:
        optimizer.zero_grad()
        with torch.amp.autocast("cuda"):
            loss = criterion(model(inputs), targets)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
```

The way without mixed precision needs no unscaling:

```python good
import torch
from torch.nn.parallel import DistributedDataParallel


def train_step(model, loss, optimizer, scaler):
    model = DistributedDataParallel(model)
    if scaler is None:
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    else:
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
```

## Fix

Safe: `scaler.unscale_(optimizer)` is put before the clip. `scaler.step` would have done the same a line later, and
leaves it out when it is done. It is made only where a torch scaler steps one optimizer and every pass through the clip
goes on to `scaler.step` and `scaler.update`, since a second `unscale_` before the update would raise.

## At run time

Confirmed when the scale is not 1 and the norm that is clipped is the unscaled norm times the scale. Refuted when
`unscale_` ran first, or the scaler is off. Not exercised when nothing was clipped.

## References

- Gradient clipping with a scaler: https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping
- `unscale_`: https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Editor,
    Finding,
    Fix,
    Found,
    Impact,
    Kind,
    Project,
    Role,
    Rule,
    ScaledClip,
    Script,
    Trace,
    Verdict,
    is_whole_statement,
    shown,
)

RULE = Rule(
    code="DDP304",
    name="clip-before-unscale",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("scaler", "Scaler"),
    everyday=True,
    applicability=Applicability.SAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the clips that see scaled gradients."""
    if project.role(script) is Role.TEST:
        return
    for found in project.loss_scales.clips(script):
        can_be_fixed = is_whole_statement(found.clip) or bool(project.uses(script).bindings(found.clip))
        yield Found(
            found.clip,
            f"`{shown(found.clip)}` clips gradients that are still multiplied by the loss scale (65536 at the start): "
            "the limit is that much too small and changes with the scale; call `unscale_` of the scaler on the "
            "optimizer first",
            related=((found.backward, "the scaled backward pass"), (found.step, "the step that divides the scale out")),
            subject=found if can_be_fixed else None,
        )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Unscale before the clip."""
    clip = found.subject
    if not isinstance(clip, ScaledClip) or clip.unscale is None:
        return None
    changes = edits.insert_statements_before(clip.clip.statement.node, [clip.unscale])
    return Fix(Applicability.SAFE, f"Call {clip.unscale} before clipping", changes)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for an ``unscale_`` of the script's own before each clipping at the line."""
    clips = trace.at(finding.lines, Kind.CLIP)
    if not clips:
        return Verdict.not_exercised("nothing was clipped")
    for clip in clips:
        acts = [act for act in clip.process.of(Kind.SCALER) if act.number < clip.number]
        scaled = max((act.number for act in acts if act["do"] == "scale" and act["enabled"]), default=None)
        unscaled = any(act["do"] == "unscale" and act.number > scaled for act in acts) if scaled is not None else True
        if not unscaled:
            evidence = [
                f"{name} {value:.4g}" for name, value in (("norm", clip["norm"]), ("limit", clip["limit"])) if value
            ]
            return Verdict.confirmed("gradients were clipped with the scale in them", *evidence)
    return Verdict.refuted("the gradients were unscaled first, or the scaler is off")
