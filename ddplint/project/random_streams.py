"""Random numbers that are the same on all ranks, because one seed is given to all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.collectives import FORWARD
from ddplint.project.roles import Role
from ddplint.project.scaling import SEARCHED
from ddplint.semantics import Attribute, Call, Constant, Expression, Name, Script, Sequence
from ddplint.semantics.arguments import Missing
from ddplint.semantics.expressions import last_name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import UNKNOWN
from ddplint.semantics.structure import Function

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Calls that seed torch's own generators.
_SEEDS = frozenset(
    {"torch.manual_seed", "torch.random.manual_seed", "transformers.set_seed", "transformers.trainer_utils.set_seed"}
)
# Anything that is called like a seed may make the ranks' generators differ.
_SEEDING = re.compile(r"(?:\w*_)?(?:manual_)?seed(?:_all|_everything)?|set_rng_state|setup_seed|fork_rng|seed_\w+")
_NOISE = frozenset(f"torch.{name}" for name in ("randn", "rand", "randn_like", "rand_like", "randint", "randint_like"))
# Seeds of the workers of a loader, each of which is a process of its own.
_WORKER_SEEDS = frozenset({"numpy.random.seed", "random.seed", "torch.manual_seed"})


@dataclass(frozen=True, slots=True)
class SharedStream:
    """A call that gives torch the same seed on all ranks, and noise that is drawn with it in every training step.

    ``seed``: the number. ``rank``: a name that holds the rank there, None when there is none.
    """

    call: Call
    seed: Expression
    noise: Call
    rank: str | None


@dataclass(frozen=True, slots=True)
class WorkerSeed:
    """A seed that the workers of a training loader get: the same for the worker of equal number on every rank."""

    call: Call
    seed: Expression
    loader: Call


class RandomStreams:
    """Finds them."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def shared(self, script: Script) -> Iterator[SharedStream]:
        """Yield the seeds of a script that make the noise of the training steps the same on all ranks.

        A function of the project that is given the seed counts as the call. There must be one such call alone in the
        program, before the training and come to by all ranks, and noise that is as large as the batch is.
        """
        for call in script.calls:
            seed = self._given(call)
            if seed is None or not self._is_equal(call, seed) or not self._seeds_alone(call):
                continue
            noise = self._noise(call)
            if noise is not None:
                yield SharedStream(call, seed, noise, self._rank_at(call))

    def of_workers(self, script: Script) -> Iterator[WorkerSeed]:
        """Yield the seeds that a ``worker_init_fn`` of a script's training loaders gives whatever the rank is."""
        for loader in self._project.loaders(script):
            given = loader.argument("worker_init_fn")
            if not isinstance(given, Expression) or not self._project.feeding.trains_together(loader):
                continue
            for function in self._project.origins(given):
                if isinstance(function, Function):
                    for call in self._project.reach.calls_in(function.outermost):
                        if self._seeds_worker(call):
                            yield WorkerSeed(call, call.arguments[0].value, loader.call)

    def _given(self, call: Call) -> Expression | None:
        """Return the number with which a call seeds torch, itself or in the function that it runs."""
        if len(call.arguments) != 1 or call.arguments[0].star:
            return None
        seed = call.arguments[0].value
        names = self._project.names(call.callee)
        if names and names <= _SEEDS:
            return None if self._is_parameter(seed) else seed
        function = self._project.resolver.function_of(call)
        if function is None or not _SEEDING.fullmatch(function.name):
            return None
        inner = (each for each in function.script.calls_in(function) if self._project.names(each.callee) & _SEEDS)
        seeded = next((each.arguments[0].value for each in inner if len(each.arguments) == 1), None)
        plain = isinstance(seeded, Name) and self._is_parameter(seeded)
        return seed if plain and not self._is_parameter(seed) else None

    def _is_parameter(self, value: Expression) -> bool:
        """Whether a value is what a function of its own is given: whoever calls that function decides."""
        return isinstance(value, Name) and any(
            binding.parameter is not None for binding in reaching(value.id, value) or ()
        )

    def _is_equal(self, call: Call, seed: Expression) -> bool:
        """Whether a number is a constant or an option, the same on all ranks, and all of them come to the call."""
        if self._project.seeds.spread(seed) is not None or self._project.guard(call) is not None:
            return False
        return all(isinstance(origin, Constant | Attribute) for origin in self._project.origins(seed))

    def _seeds_alone(self, call: Call) -> bool:
        """Whether nothing else in a program seeds anything, but for what the call itself runs and for other packages.

        Seeding numpy or Python beside it, with the same number, changes nothing.
        """
        function = self._project.resolver.function_of(call)
        for script in self._scripts(call.scope.script):
            for other in script.calls:
                if not _SEEDING.fullmatch(last_name(other)) or other is call:
                    continue
                inside = function is not None and other.scope.function is function
                beside = other.scope.function is call.scope.function and self._is_like(other, call)
                if not inside and not beside:
                    return False
        return True

    def _is_like(self, other: Call, call: Call) -> bool:
        """Whether another call seeds with the same number, or one on another library that has no part in it."""
        mine, theirs = call.arguments[0].value, [given.value for given in other.arguments]
        same = len(theirs) == 1 and theirs[0].node.deep_equals(mine.node)
        elsewhere = self._project.names(other.callee) <= {"numpy.random.seed", "random.seed"}
        generator = isinstance(other.callee, Attribute) and any(
            isinstance(origin, Call) and last_name(origin) == "Generator"
            for origin in self._project.origins(other.callee.base)
        )
        return same or elsewhere or generator

    def _scripts(self, script: Script) -> Iterator[Script]:
        for path in self._project.program_of(script)[:SEARCHED]:
            other = self._project.script(path)
            if other is not None and self._project.role(other) is not Role.TEST:
                yield other

    def _noise(self, call: Call) -> Call | None:
        """Return a call that draws noise in the training steps that come after a seed."""
        start = (
            self._project.processes.calls_of(call.scope.function) if call.scope.function else call.scope.script.calls
        )
        later = [each for each in start if each.order > call.order]
        for forward in self._project.reach.onward(later):
            if not forward.region.loops or self._project.collectives.own(forward) != FORWARD:
                continue
            loop = self._project.training_steps.loop_of(forward)
            if loop is None:
                continue
            calls = self._project.passes.calls_of(loop)
            model = self._project.models.class_inside(forward.callee)
            method = None if model is None else self._project.resolver.method(model, "forward")
            inner = [] if method is None else self._project.reach.calls_in(method)
            found = next((each for each in (*calls, *inner) if self._is_noise(each)), None)
            if found is not None:
                return found
        return None

    def _is_noise(self, call: Call) -> bool:
        """Whether a call draws from torch's generator as many numbers as there are samples."""
        names = self._project.names(call.callee)
        if not names or not names <= _NOISE or self._project.argument(call, "generator") is not Missing.ABSENT:
            return False
        if last_name(call).endswith("_like"):
            return True
        sizes = [given.value for given in call.arguments if given.keyword in (None, "size")]
        sizes = sizes[2:] if last_name(call) == "randint" else sizes
        first = sizes[0].items[:1] if sizes and isinstance(sizes[0], Sequence) else sizes[:1]
        return any(self._project.constants(size) is None for size in first)

    def _rank_at(self, call: Call) -> str | None:
        """Return a name that certainly holds the rank at a call."""
        for name, bindings in call.region.scope.bindings.items():
            if len(bindings) != 1 or bindings[0].order > call.order or bindings[0].value is None or bindings[0].path:
                continue
            value = bindings[0].value
            ranked = isinstance(value, Call) and self._project.certainly(value.callee, "torch.distributed.get_rank")
            if ranked and call.region.within(bindings[0].region):
                return name
        return None

    def _seeds_worker(self, call: Call) -> bool:
        if not self._project.names(call.callee) & _WORKER_SEEDS or len(call.arguments) != 1:
            return False
        seed = call.arguments[0].value
        pieces = list(self._project.rank_parts.pieces(seed))
        if self._project.seeds.spread(seed) is not None or UNKNOWN in self._project.origins(seed):
            return False
        calls = [piece for piece in pieces if isinstance(piece, Call)]
        return all(last_name(inner) in ("int", "abs") for inner in calls)
