"""A fast way between the GPUs switched off in the code, for every machine that the script ever runs on

## What it finds

NCCL_P2P_DISABLE, NCCL_IB_DISABLE or NCCL_SHM_DISABLE set to 1, or NCCL_P2P_LEVEL set to LOC, in the code of a program,
where every run comes to it.

It is silent where a test decides, such as one for the kind of GPU, for the environment of a child alone, and in tests.
What has a comment beside it, which may say why, is shown with `--pedantic`, and so is a `setdefault`, which the user
can overrule, and NCCL_IB_DISABLE where the processes meet on one machine, which needs no network.

## Why it matters

The gradients are exchanged in every step. Without peer-to-peer they go through the memory of the host, and NVLink lies
idle; without shared memory they go through the network card, even between the GPUs of one machine; without InfiniBand
or RoCE they go between machines over TCP. Each is several times slower. Such a line often helped on one machine with a
broken driver, and follows the script to all others.

## Symptoms

- communication between GPUs is very slow
- NCCL_P2P_DISABLE is set

## Example

```python bad
import os

import torch.distributed as dist

os.environ["NCCL_P2P_DISABLE"] = "1"  #~ DDP708
os.environ["NCCL_IB_DISABLE"] = "1"  #~ DDP708
dist.init_process_group("nccl")
```

Where it is needed, the reason is written beside it, or a test asks for it:

```python good
import os

import torch
import torch.distributed as dist

if "RTX 40" in torch.cuda.get_device_name():
    os.environ["NCCL_IB_DISABLE"] = "1"
os.environ["NCCL_P2P_DISABLE"] = "1"  # our machines hang in peer-to-peer copies behind their IOMMU
dist.init_process_group("nccl")
```

## Fix

There is none: on the machine for which the line was written the processes may hang without it. Set it in the shell of
that machine, or write beside it why it is needed.

## At run time

Confirmed when the variable is set in the process that makes the group, and the machine has the transport. Refuted when
it has none.

## References

- NCCL environment variables: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
- Troubleshooting GPU direct communication:
  https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#gpu-direct
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import Confidence, FixedSetting, Found, Impact, Project, Role, Rule, Script, has_comment

RULE = Rule(
    code="DDP708",
    name="transport-switched-off",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("NCCL_P2P_DISABLE", "NCCL_IB_DISABLE", "NCCL_SHM_DISABLE", "NCCL_P2P_LEVEL"),
)
THROUGH_HOST = "the GPUs of a machine exchange gradients through the memory of the host, and NVLink lies idle"
COSTS = {
    ("NCCL_P2P_DISABLE", "1"): THROUGH_HOST,
    ("NCCL_P2P_LEVEL", "LOC"): THROUGH_HOST,
    ("NCCL_SHM_DISABLE", "1"): "GPUs of one machine that can't reach each other directly go through the network card",
    ("NCCL_IB_DISABLE", "1"): "machines exchange gradients over TCP, though they may have InfiniBand or RoCE",
}
VARIABLES = tuple(variable for variable, _ in COSTS)
_LOOPBACK = frozenset[object]({"localhost", "127.0.0.1"})


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the transports that are off in every run."""
    if project.role(script) is Role.TEST:
        return
    for setting in project.fixed_settings.of(script, *VARIABLES):
        cost = COSTS.get((setting.variable, setting.value.upper()))
        if cost is not None:
            may_be_right = _may_be_right(setting, script, project)
            confidence = Confidence.POSSIBLE if may_be_right else Confidence.LIKELY
            yield Found(setting.write.at, _message(setting, cost), confidence)


def _may_be_right(setting: FixedSetting, script: Script, project: Project) -> bool:
    if setting.is_default or has_comment(setting.write.at.statement):
        return True
    return setting.variable == "NCCL_IB_DISABLE" and _is_one_machine(script, project)


def _is_one_machine(script: Script, project: Project) -> bool:
    """Whether the script tells all processes to meet on their own machine."""
    addresses = [project.constants(write.value) for write in project.environment_writes(script, "MASTER_ADDR")]
    return bool(addresses) and all(given is not None and given <= _LOOPBACK for given in addresses)


def _message(setting: FixedSetting, cost: str) -> str:
    return (
        f"{setting.variable} is always {setting.value}: {cost}; set it in the shell of the machine that needs it, "
        "or write beside it why it is needed"
    )
