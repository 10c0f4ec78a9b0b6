"""Every check on made-up machines: in order, slow, broken, unreadable, and nothing to ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ddplint.doctor import Asked, Needs, Status, examine
from ddplint.doctor.examine import CHECKS
from tests.unit.doctor.machines import CARD, GIB, GPU, LACKING, machine

NO_GPU: dict[str, Any] = {"gpus": [], "cards": [], "pairs": [], "driver": LACKING}
TWO = Asked(processes=2)


def statuses(changes: Mapping[str, Any], asked: Asked = TWO) -> dict[str, str]:
    found = examine(machine(changes), asked)
    return {result.code: result.verdict.status.value for result in found.results}


def test_a_machine_in_good_order() -> None:
    found = examine(machine({}), TWO)
    assert {result.verdict.status for result in found.results} == {Status.OK}
    assert found.not_asked == ("ENV912", "ENV917", "ENV918", "ENV919")
    assert not found.has_failed


def test_a_machine_without_a_gpu_is_no_failure() -> None:
    found = examine(machine(NO_GPU | {"torch.cuda": None, "torch.backends.nccl": False}), TWO)
    assert {result.verdict.status for result in found.results} == {Status.OK}


def test_a_machine_of_which_nothing_is_known() -> None:
    found = examine(machine(dict.fromkeys(tuple(machine({}).tree), LACKING)), TWO)
    assert {result.code for result in found.results if result.verdict.status is Status.FAIL} == {"ENV920"}


@pytest.mark.parametrize(
    ("code", "changes", "status"),
    [
        pytest.param("ENV901", {"torch.architectures": ["sm_70", "sm_90"]}, "fail", id="no code for the GPU"),
        pytest.param("ENV901", {"gpus.1.capability": [8, 6]}, "ok", id="binaries run on a later minor capability"),
        pytest.param("ENV901", {"torch.architectures": ["sm_86"]}, "fail", id="but not on an earlier one"),
        pytest.param("ENV901", {"gpus.1.capability": [12, 0]}, "ok", id="PTX is compiled for any newer GPU"),
        pytest.param("ENV901", {"torch.architectures": []}, "unknown", id="a torch that names no architecture"),
        pytest.param("ENV902", {"driver.cuda": [11, 8]}, "fail", id="a driver of an older major version"),
        pytest.param("ENV902", {"driver.cuda": [12, 0]}, "ok", id="an older minor one"),
        pytest.param("ENV902", {"driver": LACKING}, "unknown", id="a driver that was not asked"),
        pytest.param(
            "ENV902",
            {"driver": LACKING, "missing": {"driver": "NVMLError_LibraryNotFound: NVML Shared Library Not Found"}},
            "fail",
            id="a CUDA build without a driver",
        ),
        pytest.param("ENV903", {"gpus.1.name": "V100"}, "warn", id="two models"),
        pytest.param("ENV903", {"gpus.1.memory": 80 * GIB}, "warn", id="two sizes of memory"),
        pytest.param("ENV903", {"gpus.1.memory": 40 * GIB - (9 << 20)}, "ok", id="some megabytes of difference"),
        pytest.param("ENV904", {"pairs.0.access": False}, "warn", id="no direct access"),
        pytest.param("ENV904", {"pairs.0.correct": False}, "fail", id="wrong data"),
        pytest.param("ENV904", {"pairs": LACKING}, "unknown", id="pairs that were not tried"),
        pytest.param("ENV905", {"cards.1.link_width": 4}, "warn", id="a narrow link"),
        pytest.param("ENV905", {"cards": [{**CARD, "nvlinks": 0}] * 2}, "warn", id="several GPUs without NVLink"),
        pytest.param("ENV905", {"cards": []}, "unknown", id="links that were not read"),
        pytest.param("ENV906", {"packages.nvidia-nccl-cu13": "2.28"}, "fail", id="NCCL for two versions of CUDA"),
        pytest.param("ENV906", {"libraries": ["/opt/lib/libnccl.so.2"]}, "warn", id="a second NCCL on the path"),
        pytest.param("ENV906", {"packages": LACKING}, "unknown", id="packages that were not read"),
        pytest.param("ENV907", {"host.shared_memory": 64 << 20}, "fail", id="what a container gets"),
        pytest.param("ENV907", {"host.shared_memory": 512 << 20}, "warn", id="half a gibibyte"),
        pytest.param("ENV907", {"host.shared_memory": LACKING}, "unknown", id="no /dev/shm"),
        pytest.param("ENV908", {"ports": {"29500": False}}, "warn", id="torch's own port is taken"),
        pytest.param(
            "ENV908",
            {"ports": {"7000": False}, "environment": {"MASTER_PORT": "7000"}},
            "fail",
            id="MASTER_PORT is taken",
        ),
        pytest.param("ENV908", {"environment": {"MASTER_PORT": "70000"}}, "fail", id="no port at all"),
        pytest.param("ENV908", {"environment": {"MASTER_PORT": "auto"}}, "fail", id="no number"),
        pytest.param("ENV908", {"ports": LACKING}, "unknown", id="no port was tried"),
        pytest.param("ENV909", {"host.usable_cores": 1}, "warn", id="fewer cores than processes"),
        pytest.param("ENV909", {"environment": {"OMP_NUM_THREADS": "32"}}, "warn", id="more threads than cores"),
        pytest.param("ENV909", {"environment": {"OMP_NUM_THREADS": "16"}}, "ok", id="as many threads as cores"),
        pytest.param("ENV909", {"environment": {"OMP_NUM_THREADS": "all"}}, "fail", id="threads that are no number"),
        pytest.param("ENV909", {"host.usable_cores": LACKING}, "unknown", id="cores that were not read"),
        pytest.param("ENV910", {"gpus": [GPU]}, "fail", id="fewer GPUs than processes"),
        pytest.param("ENV910", {"environment": {"CUDA_VISIBLE_DEVICES": "0,1"}}, "ok", id="two GPUs by number"),
        pytest.param("ENV910", {"environment": {"CUDA_VISIBLE_DEVICES": "0,0"}}, "fail", id="one GPU twice"),
        pytest.param("ENV910", {"environment": {"CUDA_VISIBLE_DEVICES": "0;1"}}, "fail", id="no comma"),
        pytest.param(
            "ENV910",
            {"environment": {"CUDA_VISIBLE_DEVICES": "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6,1"}},
            "ok",
            id="a GPU by its identifier",
        ),
        pytest.param("ENV911", {"environment": {"CUDA_LAUNCH_BLOCKING": "1"}}, "warn", id="every launch waits"),
        pytest.param("ENV911", {"environment": {"CUDA_LAUNCH_BLOCKING": "0"}}, "ok", id="switched off"),
        pytest.param(
            "ENV912",
            {"environment": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True,max_split_size_mb:128"}},
            "ok",
            id="settings of the allocator",
        ),
        pytest.param(
            "ENV912",
            {"environment": {"PYTORCH_CUDA_ALLOC_CONF": "roundup_power2_divisions:[256:1,512:2,>:8]"}},
            "ok",
            id="a setting with a list",
        ),
        pytest.param(
            "ENV912",
            {"environment": {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size:128"}},
            "fail",
            id="a setting that torch doesn't know",
        ),
        pytest.param(
            "ENV912", {"environment": {"PYTORCH_ALLOC_CONF": "expandable_segments=True"}}, "fail", id="= for :"
        ),
        pytest.param("ENV913", {"gpus.0.free": 30 * GIB}, "warn", id="memory in use"),
        pytest.param("ENV913", {"cards.0.compute_mode": 2}, "fail", id="a GPU that nobody may use"),
        pytest.param("ENV913", {"cards.0.compute_mode": 3}, "warn", id="a GPU for one process alone"),
        pytest.param("ENV914", {"cards.0.uncorrected_errors": 3}, "fail", id="memory errors"),
        pytest.param("ENV914", {"cards.0.throttled": ["heat"]}, "warn", id="a hot GPU"),
        pytest.param("ENV914", {"cards": []}, "unknown", id="GPUs of which NVML tells nothing"),
        pytest.param("ENV915", {"environment": {"NCCL_P2P_DISABLE": "1"}}, "warn", id="a way that is closed"),
        pytest.param("ENV915", {"environment": {"NCCL_P2P_DISABLE": "0"}}, "ok", id="a way that is left open"),
        pytest.param("ENV915", {"environment": {"NCCL_BLOCKING_WAIT": "1"}}, "warn", id="a name from before 2.2"),
        pytest.param("ENV915", {"environment": {"NCCL_SOCKET_IFNAME": "ib0"}}, "fail", id="no such interface"),
        pytest.param("ENV915", {"environment": {"NCCL_SOCKET_IFNAME": "eth"}}, "ok", id="a beginning of a name"),
        pytest.param("ENV915", {"environment": {"NCCL_SOCKET_IFNAME": "=eth"}}, "fail", id="a whole name"),
        pytest.param("ENV915", {"environment": {"NCCL_SOCKET_IFNAME": "^lo,docker"}}, "ok", id="names left out"),
        pytest.param("ENV915", {"environment": {"NCCL_SOCKET_IFNAME": "^lo,eth"}}, "fail", id="all left out"),
        pytest.param("ENV916", {"host.open_files": 1024}, "warn", id="few open files"),
        pytest.param("ENV916", {"host.open_files": -1}, "ok", id="any number of open files"),
        pytest.param(
            "ENV916", {"host.has_infiniband": True, "host.locked_memory": 65536}, "warn", id="InfiniBand, little locked"
        ),
        pytest.param("ENV916", {"host.open_files": LACKING}, "unknown", id="limits that were not read"),
        pytest.param("ENV917", {"environment": {"MASTER_ADDR": "nowhere"}}, "fail", id="a name without an address"),
        pytest.param(
            "ENV917",
            {"environment": {"MASTER_ADDR": "localhost"}, "network.master_address": "127.0.0.1"},
            "ok",
            id="the own address on one machine",
        ),
        pytest.param("ENV918", {"host.nodes_of_memory": 2}, "ok", id="all GPUs on one of two sockets"),
        pytest.param("ENV918", {"host.nodes_of_memory": 2, "cards.1.numa_node": 1}, "warn", id="GPUs on two"),
        pytest.param("ENV918", {"host.nodes_of_memory": 2, "cards": []}, "unknown", id="GPUs on any of two"),
        pytest.param("ENV920", {"torch": LACKING}, "fail", id="no torch"),
        pytest.param("ENV920", {"torch.cuda": None}, "fail", id="a CPU build beside GPUs"),
        pytest.param("ENV920", {"torch.backends.nccl": False}, "fail", id="several GPUs without NCCL"),
        pytest.param("ENV920", {"torch.backends.gloo": False}, "warn", id="no gloo"),
    ],
)
def test_one_fact_is_judged(code: str, changes: Mapping[str, Any], status: str) -> None:
    assert statuses(changes)[code] == status


REDUCED = {"bytes": 64 << 20, "ranks": 2, "backend": "nccl", "correct": True}


@pytest.mark.parametrize(
    ("run", "status"),
    [
        pytest.param({**REDUCED, "seconds": 0.0005}, "ok", id="134 GB/s over twelve NVLinks of 25"),
        pytest.param({**REDUCED, "seconds": 0.01}, "warn", id="7 GB/s over the same"),
        pytest.param({**REDUCED, "seconds": 0.0005, "correct": False}, "fail", id="wrong sums"),
        pytest.param({**REDUCED, "seconds": 1.0, "backend": "gloo"}, "ok", id="gloo is measured, not judged"),
        pytest.param({"error": "not done after 60 s"}, "fail", id="one that does not end"),
    ],
)
def test_an_all_reduce_is_judged_by_the_links(run: Mapping[str, Any], status: str) -> None:
    assert statuses({"all_reduce": run})["ENV919"] == status


@pytest.mark.parametrize(
    ("code", "changes", "asked", "status"),
    [
        pytest.param(
            "ENV910",
            NO_GPU,
            Asked(needs=Needs("train.py", frozenset({"nccl"}))),
            "fail",
            id="NCCL without a GPU",
        ),
        pytest.param(
            "ENV910", NO_GPU, Asked(needs=Needs("train.py", frozenset({"nccl", "gloo"}))), "ok", id="NCCL or gloo"
        ),
        pytest.param(
            "ENV908",
            {"ports": {"29500": True, "12355": False}},
            Asked(needs=Needs("train.py", ports=frozenset({12355}))),
            "fail",
            id="a port that the script has written into it",
        ),
        pytest.param(
            "ENV920", {}, Asked(needs=Needs("train.py", torch_version=(2, 11))), "fail", id="a torch that is too old"
        ),
        pytest.param(
            "ENV920", {}, Asked(needs=Needs("train.py", torch_version=(2, 9))), "ok", id="one that is new enough"
        ),
        pytest.param(
            "ENV917",
            {"environment": {"MASTER_ADDR": "node1"}, "network.master_address": "127.0.1.1"},
            Asked(machines=2),
            "fail",
            id="an address that other machines don't reach",
        ),
        pytest.param("ENV917", {}, Asked(machines=2), "warn", id="several machines and no address"),
    ],
)
def test_the_machine_against_what_is_asked(code: str, changes: Mapping[str, Any], asked: Asked, status: str) -> None:
    assert statuses(changes, asked)[code] == status


def test_what_is_wrong_says_what_it_should_be_and_what_helps() -> None:
    found = examine(machine({"torch": LACKING, "host.open_files": 1, "gpus.0.free": 0}), TWO)
    wrong = [result for result in found.results if result.verdict.status in (Status.FAIL, Status.WARN)]
    assert len(wrong) == 3
    assert all(result.verdict.should and result.verdict.remedy and result.command for result in wrong)


def test_only_the_gpus_that_are_visible_count() -> None:
    cards = [{**CARD, "uuid": "GPU-1"}, {**CARD, "uuid": "GPU-2", "uncorrected_errors": 9}]
    assert statuses({"gpus": [GPU], "cards": cards}, Asked())["ENV914"] == "ok"


def test_codes_and_names_are_each_used_once() -> None:
    assert [check.code for check in CHECKS] == [f"ENV{number}" for number in range(901, 921)]
    assert len({check.name for check in CHECKS}) == len(CHECKS)
