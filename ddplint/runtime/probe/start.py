"""The beginning of the probe in a process: what the process is, and what is watched in it."""

from __future__ import annotations

import os

from ddplint.runtime.probe import data, devices, distributed, models, optimisation, output, process, stand_in
from ddplint.runtime.probe.files import Files
from ddplint.runtime.probe.hooks import Hooks
from ddplint.runtime.probe.imports import Patch, Patches
from ddplint.runtime.probe.lines import Lines
from ddplint.runtime.probe.pulse import Pulse
from ddplint.runtime.probe.recorder import Recorder, command
from ddplint.runtime.probe.stop import Stopper

_LAUNCHERS = ("torch.distributed.run", "torch.distributed.launch", "torchrun", "accelerate")
_HELPERS = ("resource_tracker", "semaphore_tracker", "forkserver", "torch_shm_manager")


def begin(folder: str) -> None:
    """Begin to watch this process; ``folder`` is the run's."""
    role = _role(command())
    recorder = Recorder(folder, role)
    recorder.begin()
    if role != "rank":
        Pulse(folder, recorder.plan.pulse, None).start()
        return
    _watch(recorder)
    Pulse(folder, recorder.plan.pulse, recorder).start()


def _role(words: list[str]) -> str:
    told = " ".join(words[:12])
    if any(helper in told for helper in _HELPERS):
        return "helper"
    if "RANK" not in os.environ and any(word.endswith(_LAUNCHERS) for word in words[1:4]):
        return "launcher"
    return "rank"


def _watch(recorder: Recorder) -> None:
    hooks = Hooks(recorder)
    lines = Lines(recorder)
    stopper = Stopper(recorder, lines.flush)
    loaders = data.Data(hooks, stopper)
    optimizers = optimisation.Optimisation(stopper)
    files = Files(hooks)
    patches: dict[str, list[Patch]] = {
        "numpy.random": [devices.patch_numpy_random],
        "torch": [devices.patch_torch],
        "torch._tensor": [models.patch_tensor],
        "torch.amp.grad_scaler": [optimisation.patch_scaler],
        "torch.autograd": [models.patch_autograd],
        "torch.cuda.amp.grad_scaler": [optimisation.patch_scaler],
        "torch.distributed.distributed_c10d": [distributed.patch_distributed],
        "torch.multiprocessing.spawn": [process.patch_spawn],
        "torch.nn.modules.module": [models.patch_module],
        "torch.nn.parallel.data_parallel": [models.patch_dp],
        "torch.nn.parallel.distributed": [models.patch_ddp],
        "torch.nn.utils.clip_grad": [optimisation.patch_clip],
        "torch.optim.lr_scheduler": [optimisation.patch_scheduler],
        "torch.optim.optimizer": [optimizers.patch_optimizer],
        "torch.random": [devices.patch_torch_random],
        "torch.serialization": [files.patch_serialization],
        "torch.utils.data._utils.worker": [data.patch_worker],
        "torch.utils.data.dataloader": [loaders.patch_loader],
        "torch.utils.data.distributed": [loaders.patch_distributed_sampler],
        "torch.utils.data.sampler": [loaders.patch_sampler],
        "torch.utils.tensorboard.writer": [output.patch_tensorboard],
        "mlflow": [output.patch_mlflow],
        "tqdm.std": [output.patch_tqdm],
        "wandb": [output.patch_wandb],
    }
    if recorder.plan.stand_in:
        for name, patch in stand_in.PATCHES.items():
            patches.setdefault(name, []).insert(0, patch)
    process.patch_process(hooks)
    output.patch_output(hooks)
    devices.patch_python_random(hooks)
    files.patch()
    Patches(hooks, patches).install()
    lines.watch()
