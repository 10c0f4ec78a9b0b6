"""The small functions that a migration writes into a script."""

from __future__ import annotations

from ddplint.edits import CannotEdit
from ddplint.migration.ddp.job import Job
from ddplint.migration.ddp.outcome import Refused

SETUP = "setup_distributed"
SHARE = "share_of_batch"
FIRST_ON_NODE = "first_on_node"
REDUCE_SUM = "reduce_sum"
REDUCE_MEAN = "reduce_mean"
FROM_FIRST = "from_first_process"

_TEXTS = {
    SETUP: '''\
def setup_distributed():
    """Join the processes that torchrun started; without torchrun, be the only one."""
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    if "LOCAL_RANK" in os.environ:
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group(backend)
    else:
        dist.init_process_group(backend, init_method="tcp://127.0.0.1:0", rank=0, world_size=1)
    if dist.get_rank() != 0:
        sys.stdout = open(os.devnull, "w")  # only the first process speaks''',
    SHARE: '''\
def share_of_batch(batch_size):
    """Return how many samples of a batch each process takes."""
    share, rest = divmod(batch_size, dist.get_world_size())
    if rest:
        raise ValueError(f"{dist.get_world_size()} processes can't share a batch of {batch_size} samples evenly")
    return share''',
    FIRST_ON_NODE: '''\
@contextlib.contextmanager
def first_on_node():
    """Let the first process of each node go ahead, so that the others find what it has downloaded."""
    is_first = int(os.environ.get("LOCAL_RANK", 0)) == 0
    if not is_first:
        dist.barrier()
    yield
    if is_first:
        dist.barrier()''',
    REDUCE_SUM: '''\
def reduce_sum(tensor):
    """Return the sum of a tensor over all processes."""
    tensor = tensor.detach().clone()
    dist.all_reduce(tensor)
    return tensor''',
    REDUCE_MEAN: '''\
def reduce_mean(tensor):
    """Return the mean of a tensor over all processes."""
    tensor = tensor.detach().clone()
    dist.all_reduce(tensor)
    return tensor / dist.get_world_size()''',
    FROM_FIRST: '''\
def from_first_process(value):
    """Return what the first process has, so that all decide alike."""
    values = [value]
    dist.broadcast_object_list(values)
    return values[0]''',
}
_MEAN_OF_SUM = '''\
def reduce_mean(tensor):
    """Return the mean of a tensor over all processes."""
    return reduce_sum(tensor) / dist.get_world_size()'''
_IMPORTS = {
    SETUP: ("import os", "import sys", "import torch", "import torch.distributed as dist"),
    FIRST_ON_NODE: ("import contextlib", "import os"),
}


def lines_of(job: Job) -> list[str]:
    """Return the text of the helpers that were asked for, each followed by two blank lines.

    Raises Refused where the script has something else under one of their names.
    """
    taken = {name.id for name in job.script.names} | {name for scope in job.script.scopes for name in scope.bindings}
    lines: list[str] = []
    for helper in (name for name in _TEXTS if name in job.helpers):
        if helper in taken:
            raise Refused(f"the script has something of its own under the name {helper}", remedy="rename it")
        both = helper == REDUCE_MEAN and REDUCE_SUM in job.helpers
        lines += [*(_MEAN_OF_SUM if both else _TEXTS[helper]).split("\n"), "", ""]
    return lines


def add_imports(job: Job) -> None:
    """Add the imports that the helpers, and ``dist`` in the edits, need; raises Refused where a name is taken."""
    for line in dict.fromkeys(line for name in job.helpers for line in _IMPORTS.get(name, ())):
        add_import(job, line)


def add_import(job: Job, line: str) -> None:
    """Add one import; raises Refused where its name is taken."""
    try:
        job.edit(job.editor.add_import(line), "what the new code needs")
    except CannotEdit as error:
        raise Refused(f"`{line}` can't be added: {error}") from None
