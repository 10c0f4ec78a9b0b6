"""The state of autocast asked or set through functions with the device in their name

## What it finds

`torch.get_autocast_gpu_dtype`, `torch.get_autocast_cpu_dtype`, `torch.is_autocast_cpu_enabled`,
`torch.set_autocast_gpu_dtype`, `torch.set_autocast_cpu_dtype`, `torch.set_autocast_cpu_enabled`, and their twins for
xla and ipu.

It is silent where a script keeps the old name for old versions of torch: under a test of a version or of a feature, in
an `except` block, and under a name that may also stand for something of the script's own. `torch.is_autocast_enabled()`
without a device is not deprecated. With a `torch-version` below 2.4 the rule is off.

## Why it matters

Since torch 2.4 every process warns when it comes to one of them, and a coming version will not have them. The new ones
take the device, so that the same code serves every kind of it.

## Symptoms

- DeprecationWarning: torch.get_autocast_gpu_dtype() is deprecated

## Example

```python bad
import torch


def state():
    if torch.is_autocast_cpu_enabled():  #~ DDP808
        return torch.get_autocast_cpu_dtype()  #~ DDP808
    return torch.get_autocast_gpu_dtype()  #~ DDP808
```

```python fixed
import torch


def state():
    if torch.is_autocast_enabled("cpu"):
        return torch.get_autocast_dtype("cpu")
    return torch.get_autocast_dtype("cuda")
```

```python good
import torch


def state(device_type):
    if hasattr(torch, "get_autocast_dtype"):
        return torch.get_autocast_dtype(device_type)
    return torch.get_autocast_gpu_dtype()
```

## Fix

Safe: on torch 2.4 and newer the new function gives the same answer for the device that the old name says, without the
warning. It is unsafe where the program speaks of TorchScript, which may not know the new form. There is none where the
function is handed on, or imported under a name that other files read.

## At run time

Confirmed when torch's warning for this line is seen. Not exercised when the line was never reached.

## References

- `torch.get_autocast_dtype` and `torch.is_autocast_enabled`: https://docs.pytorch.org/docs/stable/amp.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
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
    warned_of,
)

RULE = Rule(
    code="DDP808",
    name="legacy-autocast-state",
    impact=Impact.DEPRECATED,
    since="0.1.0",
    triggers=("_autocast_gpu_", "_autocast_cpu_", "_autocast_xla_", "_autocast_ipu_"),
    applicability=Applicability.SAFE,
    torch=(2, 4),
)
DEVICES = {"gpu": "cuda", "cpu": "cpu", "xla": "xla", "ipu": "ipu"}
FORMS = ("get_autocast_{}_dtype", "set_autocast_{}_dtype", "is_autocast_{}_enabled", "set_autocast_{}_enabled")
# Old name -> the new one, and the device that it has to be given.
SUCCESSORS = {
    f"torch.{form.format(old)}": (form.replace("{}_", ""), device)
    for form in FORMS
    for old, device in DEVICES.items()
    if old != "gpu" or form.endswith("dtype")  # the GPU's own switch has never had a device in its name
}


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the uses of the old functions."""
    for reference in project.references(script, *SUCCESSORS):
        if reference.use is not Use.TYPE and not reference.is_fallback:
            rename = _rename(reference, project)
            yield Found(reference.expression, _message(rename), Confidence.CERTAIN, subject=rename)


def _rename(reference: Reference, project: Project) -> Rename:
    new, device = SUCCESSORS[reference.name]
    return Rename(project, reference, new, first=f'"{device}"')


def _message(rename: Rename) -> str:
    more = ", ..." if rename.new.startswith("set_") else ""
    return (
        f"`{rename.reference.name}` is deprecated since torch 2.4 and warns in every process; "
        f"write `torch.{rename.new}({rename.first}{more})`"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Give the new function the device."""
    assert isinstance(found.subject, Rename)
    rename = found.subject
    changes = rename.edits(edits)
    is_scripted = rename.project.mentions(rename.reference.expression.scope.script, (b"torch.jit", b"jit.script"))
    promise = Applicability.UNSAFE if is_scripted else Applicability.SAFE
    return Fix(promise, f"Use `torch.{rename.new}`", changes) if changes else None


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for what torch says at the line."""
    return warned_of(finding, trace)
