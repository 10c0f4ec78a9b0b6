"""What is drawn: the same on every process where it makes the data, and seeds reach more than they did."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddplint.migration.ddp.job import Job
from ddplint.migration.ddp.outcome import Refused
from ddplint.semantics import Call, Expression
from ddplint.semantics.expressions import last_name

_SEEDS = frozenset(
    {
        "torch.manual_seed",
        "torch.random.manual_seed",
        "torch.cuda.manual_seed",
        "torch.cuda.manual_seed_all",
        "random.seed",
        "numpy.random.seed",
    }
)
_AUGMENTS = re.compile(
    r"torchvision\.transforms\.(?:v2\.)?(?:Random\w+|ColorJitter|AutoAugment|TrivialAugment\w*|AugMix)"
)
_CHANCE = ("random.", "numpy.random.", "torch.rand", "torch.normal", "torch.bernoulli", "torch.utils.data.random_split")
_SPLITS = frozenset({"train_test_split", "random_split", "StratifiedShuffleSplit", "ShuffleSplit"})
# What is drawn with a generator of torch, which always begins alike, or with a seed given to the call.
_OWN_SEED = frozenset({"generator", "random_state", "seed"})
# Methods that draw for one sample or one batch, whoever asks.
_FOR_SAMPLE = frozenset({"__getitem__", "__call__", "get_params", "transform", "augment", "collate_fn"})
_EACH_TIME = _FOR_SAMPLE | {"__iter__", "forward"}


def look_at_seeds(job: Job, dataset: Expression) -> None:
    """Note where all processes would draw the same; raises Refused where each would have other data."""
    seeds = [call for call in job.script.calls if job.project.names(call.callee) & _SEEDS]
    if not seeds:
        drawn = next(_drawn(job, dataset), None)
        if drawn is not None:
            raise Refused(
                "the training data is drawn without a seed, and every process would draw other data",
                drawn,
                "call torch.manual_seed, random.seed or numpy.random.seed first",
            )
    elif any(_augments(job, call) for call in _program_calls(job)):
        job.note(
            seeds[0],
            "every process has this seed, so that the workers of all draw the same augmentations for their different "
            "samples; add the rank to a seed of its own for them if that matters",
        )


def _program_calls(job: Job) -> Iterator[Call]:
    for path in job.project.program_of(job.script):
        other = job.project.script(path)
        yield from () if other is None else other.calls


def _augments(job: Job, call: Call) -> bool:
    """Whether a call draws for one sample, or makes a transform that does."""
    names = job.project.names(call.callee)
    function = call.scope.function
    for_sample = function is not None and function.name in _FOR_SAMPLE
    return any(map(_AUGMENTS.match, names)) or (for_sample and any(name.startswith(_CHANCE) for name in names))


def _drawn(job: Job, dataset: Expression) -> Iterator[Expression]:
    """Yield what is drawn, as far as it has a part in the dataset or is done by what makes it."""
    for piece, _ in job.project.dependence.pieces(dataset):
        if isinstance(piece, Call):
            reached = job.project.reach.onward([piece])
            yield from (piece for call in reached if _draws(job, call))


def _draws(job: Job, call: Call) -> bool:
    function = call.scope.function
    if function is not None and function.outermost.name in _EACH_TIME:
        return False
    if any(given.keyword in _OWN_SEED for given in call.arguments):
        return False
    names = job.project.names(call.callee)
    return any(name.startswith(_CHANCE) for name in names) or last_name(call.callee) in _SPLITS
