"""Read facts about this machine and print them, a JSON object a line; a script for the interpreter that has torch.

Each part is printed once it is read: what came before a part that hangs or ends the process is not lost. Only the
standard library is needed; torch and pynvml (nvidia-ml-py) are used where they are installed.
"""

from __future__ import annotations

import json
import os
import re
import resource
import socket
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

VARIABLES = re.compile(r"^(CUDA_|NCCL_|PYTORCH_|MASTER_|OMP_NUM_THREADS$|LD_LIBRARY_PATH$)")
MEGABYTE = 1 << 20
MOST_NVLINKS = 18


def python() -> dict[str, Any]:
    return {"executable": sys.executable, "version": "{}.{}.{}".format(*sys.version_info[:3])}


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if VARIABLES.match(name)}


def host() -> dict[str, Any]:
    shared = os.statvfs("/dev/shm")
    return {
        "name": socket.gethostname(),
        "cores": os.cpu_count(),
        "usable_cores": usable_cores(),
        "shared_memory": shared.f_frsize * shared.f_blocks,
        "open_files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        "locked_memory": resource.getrlimit(resource.RLIMIT_MEMLOCK)[0],
        "has_infiniband": os.path.isdir("/sys/class/infiniband") and bool(os.listdir("/sys/class/infiniband")),
        "nodes_of_memory": numa_nodes(),
    }


def usable_cores() -> int:
    """The cores that this process may use: its affinity, and the quota of its control group."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        with open("/sys/fs/cgroup/cpu.max") as file:
            quota, period = file.read().split()
    except (OSError, ValueError):
        return cores
    return cores if quota == "max" else max(1, min(cores, int(quota) // int(period)))


def numa_nodes() -> int:
    """The number of memory nodes: sockets, or parts of one."""
    folder = "/sys/devices/system/node"
    names = os.listdir(folder) if os.path.isdir(folder) else ["node0"]
    return sum(name.startswith("node") and name[4:].isdigit() for name in names)


def network() -> dict[str, Any]:
    interfaces = sorted(name for _, name in socket.if_nameindex())
    address = os.environ.get("MASTER_ADDR")
    return {"interfaces": interfaces, "master_address": resolved(address)}


def resolved(name: str | None) -> str | None:
    """The first address of a name, None where it has none."""
    try:
        return str(socket.getaddrinfo(name, None)[0][4][0]) if name else None
    except OSError:
        return None


def ports(wanted: Iterable[int]) -> dict[str, bool]:
    """Whether each port can be bound now."""
    free = {}
    for port in wanted:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", port))
                free[str(port)] = True
            except OverflowError:
                pass
            except OSError:
                free[str(port)] = False
    return free


def packages() -> dict[str, str]:
    """The installed packages that bring libraries of NVIDIA, and torch itself, with their versions."""
    from importlib import metadata

    found = {}
    for package in metadata.distributions():
        name = (package.metadata["Name"] or "").lower()
        if name == "torch" or name.startswith("nvidia-"):
            found[name] = package.version
    return found


def libraries() -> list[str]:
    """Copies of NCCL and cuDNN that the loader is told to find before those of torch."""
    found = []
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        if folder and os.path.isdir(folder):
            names = (name for name in os.listdir(folder) if name.startswith(("libnccl.so", "libcudnn.so")))
            found += [os.path.join(folder, name) for name in sorted(names)]
    return found


def driver() -> dict[str, Any]:
    import pynvml

    pynvml.nvmlInit()
    version = pynvml.nvmlSystemGetCudaDriverVersion_v2()
    return {"version": text(pynvml.nvmlSystemGetDriverVersion()), "cuda": [version // 1000, version % 1000 // 10]}


def cards() -> list[dict[str, Any]]:
    """What NVML knows of each GPU, by its PCI address and identifier; what it doesn't tell is left out."""
    import pynvml

    pynvml.nvmlInit()
    return [card(pynvml, pynvml.nvmlDeviceGetHandleByIndex(index)) for index in range(pynvml.nvmlDeviceGetCount())]


def card(nvml: Any, handle: Any) -> dict[str, Any]:
    readings = {
        "uuid": lambda: text(nvml.nvmlDeviceGetUUID(handle)),
        "name": lambda: text(nvml.nvmlDeviceGetName(handle)),
        "memory": lambda: nvml.nvmlDeviceGetMemoryInfo(handle).total,
        "used": lambda: nvml.nvmlDeviceGetMemoryInfo(handle).used,
        "processes": lambda: [process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses(handle)],
        "compute_mode": lambda: nvml.nvmlDeviceGetComputeMode(handle),
        "link_width": lambda: nvml.nvmlDeviceGetCurrPcieLinkWidth(handle),
        "link_width_possible": lambda: nvml.nvmlDeviceGetMaxPcieLinkWidth(handle),
        "link_generation_possible": lambda: nvml.nvmlDeviceGetMaxPcieLinkGeneration(handle),
        "nvlinks": lambda: nvlinks(nvml, handle),
        "uncorrected_errors": lambda: nvml.nvmlDeviceGetTotalEccErrors(
            handle, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
        ),
        "throttled": lambda: throttled(nvml, handle),
        "mig": lambda: nvml.nvmlDeviceGetMigMode(handle)[0],
        "numa_node": lambda: nvml.nvmlDeviceGetNumaNodeId(handle),
    }
    found = {name: reading(read) for name, read in readings.items()}
    return {name: value for name, value in found.items() if value is not None}


def reading(read: Callable[[], Any]) -> Any:
    """What NVML tells, None where it doesn't: cards, drivers and containers differ in that."""
    try:
        return read()
    except Exception:  # noqa: BLE001 - pynvml has an error for each reason, and some versions lack a function
        return None


def nvlinks(nvml: Any, handle: Any) -> int:
    """The number of active NVLinks."""
    states = (reading(partial(nvml.nvmlDeviceGetNvLinkState, handle, link)) for link in range(MOST_NVLINKS))
    return sum(state for state in states if state)


def throttled(nvml: Any, handle: Any) -> list[str]:
    """Why the clocks are held down now, but for idleness and the power limit that a busy card always meets."""
    bits = nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)
    names = {
        nvml.nvmlClocksThrottleReasonHwSlowdown: "hardware slowdown",
        nvml.nvmlClocksThrottleReasonSwThermalSlowdown: "heat",
        nvml.nvmlClocksThrottleReasonHwThermalSlowdown: "heat (hardware)",
        nvml.nvmlClocksThrottleReasonHwPowerBrakeSlowdown: "power brake",
    }
    return [name for bit, name in names.items() if bits & bit]


def text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def torch_build() -> dict[str, Any]:
    import torch  # noqa: TID251 - this script runs in a process of its own
    import torch.distributed as dist  # noqa: TID251 - likewise

    backends = {"nccl": dist.is_nccl_available(), "gloo": dist.is_gloo_available()} if dist.is_available() else {}
    found = {
        "version": torch.__version__,
        "cuda": torch.version.cuda,
        "hip": torch.version.hip,
        "backends": backends,
        "architectures": torch.cuda.get_arch_list() if torch.version.cuda else [],
    }
    nccl: Any = torch.cuda.nccl
    return {**found, "nccl": ".".join(map(str, nccl.version()))} if backends.get("nccl") else found


def gpus() -> list[dict[str, Any]]:
    import torch  # noqa: TID251 - this script runs in a process of its own

    found = []
    for index in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(index)
        free, total = torch.cuda.mem_get_info(index)
        found.append(
            {
                "name": properties.name,
                "memory": total,
                "free": free,
                "capability": [properties.major, properties.minor],
                "uuid": str(getattr(properties, "uuid", "")),
            }
        )
    return found


def pairs() -> list[dict[str, Any]]:
    """Whether each pair of GPUs reaches the other's memory, and whether a megabyte arrives as it was."""
    import torch  # noqa: TID251 - this script runs in a process of its own

    found = []
    sent = torch.arange(MEGABYTE // 4, dtype=torch.int32)
    for one in range(torch.cuda.device_count()):
        for other in range(torch.cuda.device_count()):
            if one != other:
                access = torch.cuda.can_device_access_peer(one, other)
                arrived = sent.to(f"cuda:{one}").to(f"cuda:{other}").cpu()
                found.append({"from": one, "to": other, "access": access, "correct": torch.equal(sent, arrived)})
    return found


# Torch comes last: it is what can hang or end the process.
PARTS = (python, environment, host, network, packages, libraries, driver, cards, torch_build, gpus, pairs)


def main() -> None:
    wanted = [int(port) for port in sys.argv[1:]]
    tell("ports", lambda: ports(wanted))
    for part in PARTS:
        tell("torch" if part is torch_build else part.__name__, part)


def tell(name: str, read: Callable[[], Any]) -> None:
    """Print a part, or why it can't be read."""
    try:
        line = {name: read()}
    except Exception as error:  # noqa: BLE001 - whatever goes wrong with a part is the fact about it
        line = {"missing": {name: f"{type(error).__name__}: {error}"}}
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
