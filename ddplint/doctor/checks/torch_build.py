"""Torch against the driver and the GPUs: what it was built for, and what is there."""

from __future__ import annotations

import re
from collections import Counter

from ddplint.doctor.asked import Asked
from ddplint.doctor.facts import Facts
from ddplint.doctor.result import Verdict, fail, ok, unknown, warn

_ARCHITECTURE = re.compile(r"(sm|compute)_(\d+)(\d)[a-z]?")
_REINSTALL = "install the build of torch that https://pytorch.org/get-started/locally/ names for this machine"


def kernel_images(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV901: whether torch has code for each GPU.

    Binaries run on the same major capability from their minor on; PTX is compiled for any newer GPU.
    https://docs.nvidia.com/cuda/ampere-compatibility-guide/
    """
    gpus = facts.gpus
    if not gpus:
        return None
    names = facts.get("torch.architectures") or []
    built = [(kind, int(major), int(minor)) for kind, major, minor in _ARCHITECTURE.findall(" ".join(names))]
    if not built:
        return unknown("torch names no architecture that it was built for")
    without = []
    for number, gpu in enumerate(gpus):
        major, minor = gpu.get("capability") or (0, 0)
        if not any(_runs(kind, (one, other), (major, minor)) for kind, one, other in built):
            without.append(f"GPU {number} ({gpu.text('name')}, sm_{major}{minor})")
    if without:
        should = "a build of torch that has code for the GPU"
        return fail(f"{', '.join(without)}; torch was built for {' '.join(names)}", should, _REINSTALL)
    return ok("torch has code for each GPU")


def _runs(kind: str, built: tuple[int, int], gpu: tuple[int, int]) -> bool:
    return built <= gpu if kind == "compute" else built[0] == gpu[0] and built[1] <= gpu[1]


def driver(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV902: whether the driver is new enough for the CUDA that torch was built with.

    From CUDA 11 on, a driver of the same major version serves every minor one.
    https://docs.nvidia.com/deploy/cuda-compatibility/
    """
    cuda = facts.text("torch.cuda")
    if cuda is None:
        return None
    newest = facts.get("driver.cuda")
    if not newest:
        why = facts.missing.get("driver", "")
        if "LibraryNotFound" in why or "DriverNotLoaded" in why:
            return fail("no NVIDIA driver", f"a driver for CUDA {cuda}", "install the driver, or a CPU build of torch")
        return unknown("the driver was not asked", "pip install nvidia-ml-py")
    wanted = tuple(map(int, cuda.split(".")[:2]))
    read = f"driver {facts.text('driver.version')}: up to CUDA {newest[0]}.{newest[1]}; torch: CUDA {cuda}"
    if newest[0] < wanted[0]:
        return fail(read, f"a driver for CUDA {wanted[0]}", "update the driver, or install a torch for an older CUDA")
    return ok(read)


def second_copies(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV906: whether a second NCCL or cuDNN can be loaded in the place of torch's own."""
    packages = facts.get("packages")
    if packages is None:
        return unknown("the installed packages were not read")
    kinds = Counter(name.rpartition("-cu")[0] for name in packages if name.startswith(("nvidia-nccl", "nvidia-cudnn")))
    twice = sorted(name for name in packages if kinds.get(name.rpartition("-cu")[0], 0) > 1)
    if twice:
        return fail(", ".join(twice), "one of each", f"pip uninstall {' '.join(twice)}, then install torch again")
    libraries = facts.get("libraries") or []
    if libraries:
        remedy = "take the folder out of LD_LIBRARY_PATH for training"
        return warn(f"LD_LIBRARY_PATH has {', '.join(libraries)}", "torch's own libraries alone", remedy)
    version = facts.text("torch.nccl")
    return ok(f"NCCL {version}, no second copy" if version else "no second NCCL or cuDNN")


def build(facts: Facts, asked: Asked) -> Verdict | None:
    """ENV920: whether torch is there, and has what the machine and the script ask for."""
    version = facts.text("torch.version")
    if version is None:
        why = facts.missing.get("torch", "it was not read")
        return fail(f"torch can't be imported: {why}", "torch in this interpreter", "pip install torch, or --python")
    backends = facts.get("torch.backends") or {}
    lacks = sorted(name for name in asked.needs.backends & {"nccl", "gloo"} if not backends.get(name))
    read = f"torch {version}, " + (", ".join(sorted(name for name in backends if backends[name])) or "no backend")
    if facts.get("driver.cuda") and facts.text("torch.cuda") is None and facts.text("torch.hip") is None:
        return fail(f"{read}; built for the CPU", "a build for the GPUs of this machine", _REINSTALL)
    if lacks:
        return fail(read, f"a torch with {' and '.join(lacks)}, for {asked.needs.script}", _REINSTALL)
    if len(facts.gpus) > 1 and not backends.get("nccl"):
        return fail(read, "a torch with NCCL, for several GPUs", _REINSTALL)
    oldest = asked.needs.torch_version
    if oldest is not None and _version(version) < oldest:
        should = f"torch {oldest[0]}.{oldest[1]} or newer, for {asked.needs.script}"
        return fail(read, should, "pip install --upgrade torch")
    if not backends.get("gloo"):
        return warn(read, "gloo as well, for tensors on the CPU and object collectives", _REINSTALL)
    return ok(read)


def _version(text: str) -> tuple[int, int]:
    numbers = [int(part) for part in re.findall(r"\d+", text)[:2]]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)
