"""The training loader: each process gets its share of the samples, in batches that are as large together as before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ddplint.migration.ddp.course import Course, is_constant
from ddplint.migration.ddp.helpers import FIRST_ON_NODE, SHARE, add_import
from ddplint.migration.ddp.job import Job
from ddplint.migration.ddp.outcome import Refused
from ddplint.semantics import Argument, Call, Constant, Name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Binding
from ddplint.semantics.torch_names import signature

_SAMPLER = "DistributedSampler"
SHARED_OUT = "each process gets its share of the samples"
SAME_DATASET = "loader and sampler need the same dataset"
SAME_BATCH = "the batch of all processes together stays as large as it was"
SAME_WORKERS = "all processes together have as many workers as before"
# What chooses the samples in another way.
_CHOICES = ("sampler", "batch_sampler", "generator")
_SAMPLERS = ("train_sampler", "training_sampler", "distributed_sampler")
_DATASETS = ("train_set", "train_dataset", "training_data")


def share_out(job: Job, course: Course) -> None:
    """Give each loader a sampler, its share of the batch and of the workers, and each epoch an order of its own."""
    shuffled = [loader.call for loader in course.loaders if _share_out(job, loader.call)]
    if shuffled and course.epochs is None:
        job.note(
            shuffled[0], "no loop counts the epochs: call set_epoch of the sampler, with another number for each pass"
        )
    elif shuffled and course.epochs is not None:
        line = f"{course.name}.sampler.set_epoch({course.epoch})"
        job.edit(job.editor.insert_first_in_block(course.epochs.node, (line,)), "each epoch has an order of its own")


def _share_out(job: Job, call: Call) -> bool:
    """Share the data of one loader out; tell whether it may shuffle."""
    given = _given(call)
    empty = _empty_sampler(given)
    for name in _CHOICES:
        if name in given and not (name == "sampler" and empty is not None):
            raise Refused(f"the loader has a {name} of its own", given[name].value)
    if "worker_init_fn" in given:
        job.note(given["worker_init_fn"].value, "worker_init_fn seeds the workers of all processes alike")
    _check_dataset(job, given)
    if empty is None:
        _sample(job, call, given)
    else:
        _fill(job, call, empty, given)
    _share_of_batch(job, call, given)
    _share_of_workers(job, given)
    return "shuffle" in given and not is_constant(given["shuffle"].value, False)


def _node(call: Call) -> Any:
    return call.node


def _given(call: Call) -> dict[str, Argument]:
    """Return the arguments of a DataLoader by the names of its parameters."""
    places = signature("torch.utils.data.DataLoader") or ()
    given: dict[str, Argument] = {}
    for number, argument in enumerate(call.arguments):
        if argument.star:
            raise Refused("the loader's arguments are hidden behind a star", call)
        given[argument.keyword or places[number]] = argument
    if "dataset" not in given:
        raise Refused("the loader's dataset can't be seen", call)
    return given


def _check_dataset(job: Job, given: dict[str, Argument]) -> None:
    """A sampler needs a dataset with a length; torch shuffles no other."""
    shuffles = is_constant(given["shuffle"].value if "shuffle" in given else None, True)
    if not shuffles and job.project.datasets.is_iterable(given["dataset"].value) is not False:
        raise Refused("it is not certain that the dataset has a length and indices", given["dataset"].value)


def _empty_sampler(given: dict[str, Argument]) -> Binding | None:
    """Return the line that makes the loader's sampler None, before the loader and after its dataset."""
    sampler, dataset = (given[name].value if name in given else None for name in ("sampler", "dataset"))
    if not isinstance(sampler, Name) or not isinstance(dataset, Name):
        return None
    found, made = reaching(sampler.id, sampler) or [], reaching(dataset.id, dataset) or []
    if len(found) != 1 or len(made) != 1 or not is_constant(found[0].value, None) or found[0].path:
        return None
    follows = made[0].order < found[0].order and found[0].region.scope is made[0].region.scope
    return found[0] if follows and found[0].region is sampler.region else None


def _fill(job: Job, call: Call, empty: Binding, given: dict[str, Argument]) -> None:
    """Make the sampler where the script has None for it. ``shuffle=(sampler is None)`` then says what it should."""
    add_import(job, f"from torch.utils.data.distributed import {_SAMPLER}")
    shuffle = given.get("shuffle")
    asks = shuffle is not None and any(isinstance(one, Name) and one.id == empty.name for one in shuffle.value.walk())
    order = [] if asks else _order(job, call, given)
    assert empty.value is not None
    text = f"{_SAMPLER}({', '.join([job.text(given['dataset'].value), *order, *_end(job, given)])})"
    job.edit(job.editor.replace(empty.value.node, text), SHARED_OUT)


def _sample(job: Job, call: Call, given: dict[str, Argument]) -> None:
    """Write the sampler, and take away what it replaces."""
    add_import(job, f"from torch.utils.data.distributed import {_SAMPLER}")
    dataset, lines = _dataset(job, given["dataset"])
    sampler = _free_name(job, _SAMPLERS)
    options = [*_order(job, call, given), *_end(job, given)]
    lines.append(f"{sampler} = {_SAMPLER}({', '.join([dataset, *options])})")
    job.edit(job.editor.insert_statements_before(call.statement.node, lines), SHARED_OUT)
    job.edit(job.editor.insert_argument(_node(call), f"sampler={sampler}"), SHARED_OUT)


def _order(job: Job, call: Call, given: dict[str, Argument]) -> list[str]:
    """Return what the sampler is told of the order of an epoch, which the loader is told no more."""
    parts: list[str] = []
    shuffle = given.get("shuffle")
    if shuffle is None:
        parts.append("shuffle=False")
    else:
        if not is_constant(shuffle.value, True):
            parts.append(f"shuffle={job.text(shuffle.value)}")
        if shuffle.keyword is None:
            raise Refused("the loader's arguments are given by place", shuffle.value, "name them")
        job.edit(job.editor.remove_argument(_node(call), shuffle.node), "the sampler shuffles")
    return parts


def _end(job: Job, given: dict[str, Argument]) -> list[str]:
    """Return what the sampler is told of the end of an epoch."""
    drop = given.get("drop_last")
    return [] if drop is None or is_constant(drop.value, False) else [f"drop_last={job.text(drop.value)}"]


def _free_name(job: Job, names: Sequence[str]) -> str:
    taken = {name for scope in job.script.scopes for name in scope.bindings} | {one.id for one in job.script.names}
    free = next((name for name in names if name not in taken), None)
    if free is None:
        raise Refused(f"{', '.join(names)} are all taken", remedy=f"rename {names[0]}")
    return free


def _dataset(job: Job, dataset: Argument) -> tuple[str, list[str]]:
    """Return the name of the dataset; one that is made inside the call gets a line before it."""
    if isinstance(dataset.value, Name):
        return dataset.value.id, []
    text = job.text(dataset.value)
    if '"""' in text or "'''" in text:
        raise Refused("the loader's dataset is made in a way that can't be moved", dataset.value)
    name = _free_name(job, _DATASETS)
    first, *rest = text.splitlines()
    job.edit(job.editor.replace_argument(dataset.node, name), SAME_DATASET)
    lines = [f"{name} = {first}", *(f"    {line.strip()}" for line in rest)]
    if any(part is call for call in job.downloads for part in dataset.value.walk()):
        return name, [f"with {job.helper(FIRST_ON_NODE)}():", *(f"    {line}" for line in lines)]
    return name, lines


def _share_of_batch(job: Job, call: Call, given: dict[str, Argument]) -> None:
    size = given.get("batch_size")
    if size is None or is_constant(size.value, None):
        raise Refused("the loader has batches of one sample, which can't be shared", call)
    text = f"{job.helper(SHARE)}({job.text(size.value)})"
    job.edit(
        job.editor.replace_argument(size.node, text), "the batch of all processes together stays as large as it was"
    )


def _share_of_workers(job: Job, given: dict[str, Argument]) -> None:
    """Divide the workers, and round up, so that none stays none."""
    workers = given.get("num_workers")
    if workers is None or (isinstance(workers.value, Constant) and workers.value.value in (0, 1)):
        return
    text = job.text(workers.value)
    if isinstance(workers.value, Constant):
        text = f"max(1, {text} // dist.get_world_size())"
    else:
        operand = text if isinstance(workers.value, Name) or "(" not in text else f"({text})"
        text = f"-(-{operand} // dist.get_world_size())"
    job.edit(
        job.editor.replace_argument(workers.node, text),
        "all processes of a machine together have as many workers as before",
    )
