"""One rank of a timed all-reduce; run as a script with torchrun's variables. Rank 0 prints a JSON object."""

from __future__ import annotations

import json
import os
import sys
import time

import torch  # noqa: TID251 - this script runs in a process of its own
import torch.distributed as dist  # noqa: TID251 - likewise

WARM_UP, ROUNDS = 3, 10


def main() -> None:
    size = int(sys.argv[1])
    # NCCL takes no GPU twice.
    on_gpu = torch.cuda.device_count() >= int(os.environ["WORLD_SIZE"])
    rank = int(os.environ["RANK"])
    if on_gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if on_gpu else "gloo")
    tensor = torch.ones(size // 4, device="cuda" if on_gpu else "cpu")
    times = [timed(tensor, on_gpu) for _ in range(WARM_UP + ROUNDS)][WARM_UP:]
    seconds = sorted(times)[len(times) // 2]
    if rank == 0:
        found = {"bytes": size, "seconds": seconds, "ranks": dist.get_world_size(), "backend": dist.get_backend()}
        print(json.dumps({**found, "correct": bool((tensor == dist.get_world_size()).all())}), flush=True)
    dist.barrier()
    dist.destroy_process_group()


def timed(tensor: torch.Tensor, on_gpu: bool) -> float:
    """Return the seconds of one sum over all ranks, each of which gives ones."""
    tensor.fill_(1)
    if on_gpu:
        torch.cuda.synchronize()
    dist.barrier()
    start = time.perf_counter()
    dist.all_reduce(tensor)
    if on_gpu:
        torch.cuda.synchronize()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
