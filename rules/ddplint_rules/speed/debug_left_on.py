"""Debugging left on: anomaly detection, checks of every collective, no memory cache, or the log of NCCL

## What it finds

In a program that trains with several processes, where every run comes to it:

- `torch.autograd.set_detect_anomaly(True)` and `with torch.autograd.detect_anomaly():`
- TORCH_DISTRIBUTED_DEBUG set to DETAIL, and `torch.distributed.set_debug_level(DebugLevel.DETAIL)`
- PYTORCH_NO_CUDA_MEMORY_CACHING set to 1
- NCCL_DEBUG set to INFO or TRACE, which costs little time and hundreds of lines for each process

It is silent where a test or an option decides, where the script switches anomaly detection off again, and in tests. A
`setdefault`, which the user can overrule, is shown with `--pedantic`, and so is TORCH_DISTRIBUTED_DEBUG when it is set
after the import of torch, which reads it, in a file that starts no processes.

## Why it matters

Anomaly detection keeps a traceback of every operation and looks for NaN after each step of the backward pass, for
which the CPU has to wait for the GPU every time. With DETAIL all ranks compare the shapes of each collective, over
gloo, before it may start. Without the memory cache every tensor is a call of cudaMalloc, and every release waits for
the whole GPU.

## Symptoms

- training is slow with detect_anomaly or TORCH_DISTRIBUTED_DEBUG=DETAIL

## Example

```python bad
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

torch.autograd.set_detect_anomaly(True)  #~ DDP705
dist.init_process_group("nccl")
model = DistributedDataParallel(torch.nn.Linear(8, 2))
```

```python fixed
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
model = DistributedDataParallel(torch.nn.Linear(8, 2))
```

```python bad
import os

os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"  #~ DDP705

import torch.distributed as dist

dist.init_process_group("nccl")
```

```python fixed
import os


import torch.distributed as dist

dist.init_process_group("nccl")
```

Behind an option it costs only the runs that want it:

```python good
import argparse

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--detect-anomaly", action="store_true")
args = parser.parse_args()
torch.autograd.set_detect_anomaly(args.detect_anomaly)
dist.init_process_group("nccl")
```

## Fix

Unsafe: a statement is removed, and a `with` block gets `set_detect_anomaly(False)`. A run whose gradients hold NaN was
stopped there and now goes on. There is no fix for `update`, and none for `detect_anomaly` imported by its name.

## At run time

Confirmed when the setting is seen in the process that trains; the time of a step with and without it says what it
costs. Refuted when it is off by then.

## References

- `torch.autograd.detect_anomaly`: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.detect_anomaly
- TORCH_DISTRIBUTED_DEBUG: https://docs.pytorch.org/docs/stable/distributed.html#torch-distributed-debug
- PYTORCH_NO_CUDA_MEMORY_CACHING: https://docs.pytorch.org/docs/stable/cuda_environment_variables.html
- NCCL_DEBUG: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-debug
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Attribute,
    BindingKind,
    Call,
    Confidence,
    Constant,
    Edit,
    Editor,
    Expression,
    Fix,
    FixedSetting,
    Found,
    Impact,
    Project,
    Role,
    Rule,
    Script,
    WriteForm,
    last_name,
    removed,
)

RULE = Rule(
    code="DDP705",
    name="debug-left-on",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=(
        "detect_anomaly",
        "TORCH_DISTRIBUTED_DEBUG",
        "set_debug_level",
        "PYTORCH_NO_CUDA_MEMORY_CACHING",
        "NCCL_DEBUG",
    ),
    everyday=True,
    applicability=Applicability.UNSAFE,
)
COLLECTIVES = "all ranks compare every collective over gloo before it starts"
COSTS = {
    ("TORCH_DISTRIBUTED_DEBUG", "DETAIL"): COLLECTIVES,
    ("PYTORCH_NO_CUDA_MEMORY_CACHING", "1"): "every tensor is allocated by the driver, which waits for the GPU",
    ("NCCL_DEBUG", "INFO"): "every process writes hundreds of lines about its connections",
    ("NCCL_DEBUG", "TRACE"): "every process writes lines about each of its operations",
}
VARIABLES = tuple(dict.fromkeys(variable for variable, _ in COSTS))
SWITCH = "torch.autograd.set_detect_anomaly"
CONTEXT = "torch.autograd.detect_anomaly"


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the aids for debugging that are on in every run."""
    if project.role(script) is Role.TEST:
        return
    for setting in project.fixed_settings.of(script, *VARIABLES):
        cost = COSTS.get((setting.variable, setting.value.upper()))
        if cost is not None:
            yield _found_setting(setting, cost, script, project)
    for call in (*_anomaly_detection(script, project), *_detailed(script, project)):
        if not project.switches.decide(call):
            yield Found(call, _message_of(call, project), subject=call)


def _found_setting(setting: FixedSetting, cost: str, script: Script, project: Project) -> Found:
    unread = setting.variable == "TORCH_DISTRIBUTED_DEBUG" and _is_late(setting, script, project)
    message = f"{setting.variable} is always {setting.value}: {cost}; remove it, or set it in the shell when you search"
    return Found(
        setting.write.at,
        message,
        Confidence.POSSIBLE if unread or setting.is_default else Confidence.LIKELY,
        subject=setting,
        impact=Impact.NOISE if setting.variable == "NCCL_DEBUG" else None,
    )


def _is_late(setting: FixedSetting, script: Script, project: Project) -> bool:
    """Whether torch was imported before, and so has read the variable, and no process starts that reads it again."""
    imports = (binding for bindings in script.scope.bindings.values() for binding in bindings)
    before = (one for one in imports if one.kind is BindingKind.IMPORT and one.order < setting.write.at.order)
    return any(one.imported.partition(".")[0] == "torch" for one in before) and not project.launches(script)


def _anomaly_detection(script: Script, project: Project) -> list[Call]:
    """Return the calls that turn anomaly detection on, none where it is switched off, too, or by a variable."""
    switches = project.calls(script, SWITCH)
    if not all(_is_true(_mode(call)) and project.certainly(call.callee, SWITCH) for call in switches):
        return []
    return [*switches, *(call for call in project.calls(script, CONTEXT) if project.certainly(call.callee, CONTEXT))]


def _detailed(script: Script, project: Project) -> list[Call]:
    calls = project.calls(script, "torch.distributed.set_debug_level")
    return [call for call in calls if any(_is_detail(given.value, project) for given in call.arguments)]


def _mode(call: Call) -> Expression | None:
    return next((given.value for given in call.arguments if given.keyword in (None, "mode") and not given.star), None)


def _is_true(mode: Expression | None) -> bool:
    return isinstance(mode, Constant) and mode.value is True


def _is_detail(level: Expression, project: Project) -> bool:
    return project.certainly(level, "torch.distributed.DebugLevel.DETAIL")


def _message_of(call: Call, project: Project) -> str:
    if project.certainly(call.callee, SWITCH, CONTEXT):
        return (
            "anomaly detection is always on: every step of the backward pass waits for the GPU to look for NaN; "
            "remove it, or turn it on by an option when you search"
        )
    return f"the debug level is always DETAIL: {COLLECTIVES}; remove it, or set TORCH_DISTRIBUTED_DEBUG when you search"


def fix(found: Found, edits: Editor) -> Fix | None:
    """Remove the statement, or switch the context off."""
    subject = found.subject
    if isinstance(subject, FixedSetting):
        changes = () if subject.write.form is WriteForm.UPDATE else removed(subject.write.at, edits)
    else:
        assert isinstance(subject, Call)
        changes = removed(subject, edits) or _switched_off(subject, edits)
    return Fix(Applicability.UNSAFE, "Leave the debugging to the runs that need it", changes) if changes else None


def _switched_off(call: Call, edits: Editor) -> tuple[Edit, ...]:
    """Turn the call in a ``with`` into one that switches anomaly detection off."""
    mode = next((given for given in call.arguments if _is_true(given.value) and given.keyword in (None, "mode")), None)
    callee = call.callee
    if last_name(callee) == "set_detect_anomaly" and mode is not None:
        return edits.replace_argument(mode.node, "False")
    if isinstance(callee, Attribute) and callee.name == "detect_anomaly" and not call.arguments:
        return edits.replace(call.node, f"{edits.source_text(callee.base.node)}.set_detect_anomaly(False)")
    return ()
