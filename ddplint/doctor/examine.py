"""All checks over one set of facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ddplint.doctor.asked import Asked
from ddplint.doctor.checks import bandwidth, environment, gpus, host, network, torch_build
from ddplint.doctor.facts import Facts
from ddplint.doctor.result import Result, Status, Verdict

_TOPOLOGY = "nvidia-smi topo -m"


@dataclass(frozen=True, slots=True)
class Check:
    """A question about the machine, and the command that shows the fact at a shell."""

    code: str
    name: str
    judge: Callable[[Facts, Asked], Verdict | None]
    command: str


CHECKS = (
    Check(
        "ENV901", "no-kernel-image", torch_build.kernel_images, 'python -c "import torch; torch.cuda.get_arch_list()"'
    ),
    Check("ENV902", "driver-too-old", torch_build.driver, "nvidia-smi"),
    Check("ENV903", "gpus-differ", gpus.alike, "nvidia-smi -L"),
    Check("ENV904", "peer-access", gpus.peers, "nvidia-smi topo -p2p r"),
    Check("ENV905", "narrow-link", gpus.links, _TOPOLOGY),
    Check("ENV906", "second-nccl", torch_build.second_copies, "pip list | grep nvidia-"),
    Check("ENV907", "shared-memory", host.shared_memory, "df -h /dev/shm"),
    Check("ENV908", "port-taken", network.port, "ss -ltn"),
    Check("ENV909", "too-many-threads", host.threads, "nproc; echo $OMP_NUM_THREADS"),
    Check("ENV910", "visible-devices", environment.visible_devices, "echo $CUDA_VISIBLE_DEVICES"),
    Check("ENV911", "launch-blocking", environment.launch_blocking, "echo $CUDA_LAUNCH_BLOCKING"),
    Check("ENV912", "allocator-settings", environment.allocator, "echo $PYTORCH_CUDA_ALLOC_CONF $PYTORCH_ALLOC_CONF"),
    Check("ENV913", "gpu-in-use", gpus.shared, "nvidia-smi"),
    Check("ENV914", "gpu-health", gpus.health, "nvidia-smi -q -d ECC,PERFORMANCE"),
    Check("ENV915", "nccl-switches", environment.nccl, "env | grep NCCL"),
    Check("ENV916", "limits", host.limits, "ulimit -n; ulimit -l"),
    Check("ENV917", "master-address", network.address, "getent hosts $MASTER_ADDR"),
    Check("ENV918", "memory-nodes", host.memory_nodes, _TOPOLOGY),
    Check("ENV919", "slow-all-reduce", bandwidth.all_reduce, "ddplint doctor --nccl-test"),
    Check("ENV920", "torch-build", torch_build.build, 'python -c "import torch; print(torch.__version__)"'),
)


@dataclass(frozen=True, slots=True)
class Examination:
    """The results, those that need something done first, and the codes that this machine gives no reason to ask."""

    results: tuple[Result, ...]
    not_asked: tuple[str, ...]

    @property
    def has_failed(self) -> bool:
        """Whether something stops the training."""
        return any(result.verdict.status is Status.FAIL for result in self.results)


def examine(facts: Facts, asked: Asked) -> Examination:
    """Judge a machine: a pure function of the facts and of what is asked."""
    verdicts = [(check, check.judge(facts, asked)) for check in CHECKS]
    results = [Result(check.code, check.name, verdict, check.command) for check, verdict in verdicts if verdict]
    order = list(Status)
    results.sort(key=lambda result: (order.index(result.verdict.status), result.code))
    return Examination(tuple(results), tuple(check.code for check, verdict in verdicts if verdict is None))
