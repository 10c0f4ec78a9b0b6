"""Samplers, data loaders, and passes over them, which are cut short."""

from __future__ import annotations

import hashlib
import inspect
import random
import sys
import time
from array import array
from itertools import chain, islice
from typing import Any, Dict, Iterator, Tuple

from ddplint.runtime.probe.hooks import Hooks
from ddplint.runtime.probe.stop import Stopper
from ddplint.trace.kinds import Kind

Args = Tuple[Any, ...]
Kwargs = Dict[str, Any]
_FIRST = 64  # indices that are written out
_VALUES = 16  # of each sample that go into the digest of a batch
_LONGEST = 200_000  # batches up to which a sampler is asked whether it ever ends


class Data:
    """Watches the loaders of a process."""

    def __init__(self, hooks: Hooks, stopper: Stopper) -> None:
        self._hooks = hooks
        self._recorder = hooks.recorder
        self._stopper = stopper
        self._samplers: dict[int, int] = {}
        self._loaders: dict[int, int] = {}
        self._keys: dict[int, Any] = {}
        self._passes: dict[int, int] = {}
        self._kept: list[Any] = []

    def patch_sampler(self, hooks: Hooks, module: Any) -> None:
        """Watch the making of every ``Sampler``: the place of its construction is where ``__new__`` is called."""

        def __new__(cls: Any, *_args: Any, **_kwargs: Any) -> Any:
            made = object.__new__(cls)
            hooks.attempt("Sampler.__new__", self._sampler_made, made)
            return made

        module.Sampler.__new__ = staticmethod(__new__)

    def patch_distributed_sampler(self, hooks: Hooks, module: Any) -> None:
        """Watch ``DistributedSampler``: its whole order, and its epochs."""

        def drawn(original: Any) -> Any:
            def __iter__(sampler: Any) -> Iterator[int]:
                order = list(original(sampler))
                hooks.attempt("DistributedSampler.__iter__", self._order_drawn, sampler, order)
                return iter(order)

            return __iter__

        hooks.replace(module.DistributedSampler, "__iter__", drawn)
        hooks.around(
            module.DistributedSampler,
            "set_epoch",
            before=lambda args, kwargs: self._recorder.write(
                Kind.SET_EPOCH,
                sampler=self._samplers.get(id(args[0])),
                epoch=args[1] if len(args) > 1 else kwargs.get("epoch"),
            ),
        )

    def patch_loader(self, hooks: Hooks, module: Any) -> None:
        """Watch ``DataLoader`` and its iterators."""

        def made(_token: Any, _result: Any, error: BaseException | None, args: Args, _kwargs: Kwargs) -> None:
            if error is None:
                self._loader_made(args[0])

        def begun(args: Args, _kwargs: Kwargs) -> None:
            self._stopper.begins(self._key(args[0]))

        def cut(_token: Any, _result: Any, error: BaseException | None, args: Args, kwargs: Kwargs) -> None:
            if error is None:
                iterator = args[0]
                loader = args[1] if len(args) > 1 else kwargs["loader"]
                iterator._sampler_iter = self._cut(iterator._sampler_iter, iterator, loader, module)

        hooks.around(module.DataLoader, "__init__", after=made)
        hooks.around(module.DataLoader, "__iter__", before=begun)
        hooks.around(module._BaseDataLoaderIter, "__init__", after=cut)
        hooks.around(module._BaseDataLoaderIter, "_reset", after=cut)
        hooks.around(
            module._BaseDataLoaderIter,
            "__next__",
            before=lambda _args, _kwargs: time.perf_counter(),
            after=lambda start, batch, error, args, _kwargs: self._batch(start, batch, error, args[0]),
        )

    def _sampler_made(self, sampler: Any) -> None:
        number = len(self._kept)
        self._kept.append(sampler)
        self._samplers[id(sampler)] = number
        stack = self._recorder.places.stack(sys._getframe(1))
        if stack:  # those that a loader makes for itself stand at the loader
            self._recorder.write(Kind.SAMPLER, stack, sampler=number, cls=type(sampler).__name__)

    def _order_drawn(self, sampler: Any, order: list[int]) -> None:
        self._recorder.write(
            Kind.SAMPLER_PASS,
            sampler=self._samplers.get(id(sampler)),
            cls=type(sampler).__name__,
            epoch=sampler.epoch,
            seed=sampler.seed,
            replicas=sampler.num_replicas,
            rank=sampler.rank,
            shuffle=sampler.shuffle,
            samples=_length(sampler.dataset),
            count=len(order),
            first=order[:_FIRST],
            digest=digest(order),
        )

    def _loader_made(self, loader: Any) -> None:
        number = len(self._loaders)
        self._loaders[id(loader)] = number
        self._kept.append(loader)
        stack = self._recorder.places.stack(sys._getframe(1))
        # A loader that is made anew for each epoch is one and the same for whoever counts epochs.
        self._keys[id(loader)] = str(stack) if stack else number
        sampler = loader.sampler
        iterable = type(sampler).__name__ == "_InfiniteConstantSampler"
        self._recorder.write(
            Kind.LOADER,
            stack,
            loader=number,
            length=_length(loader),
            batch_size=loader.batch_size,
            sampler=self._samplers.get(id(sampler)),
            batch_sampler=self._samplers.get(id(loader.batch_sampler)),
            cls=type(sampler).__name__,
            shuffle=type(sampler).__name__ == "RandomSampler" or getattr(sampler, "shuffle", None),
            replicas=getattr(sampler, "num_replicas", None),
            rank=getattr(sampler, "rank", None),
            drop_last=loader.drop_last,
            seed=getattr(sampler, "seed", None),
            workers=loader.num_workers,
            pin_memory=loader.pin_memory,
            dataset=type(loader.dataset).__name__,
            samples=_length(loader.dataset),
            share=None if iterable else _length(sampler),
            iterable=iterable,
        )

    def _key(self, loader: Any) -> Any:
        return self._keys.get(id(loader), id(loader))

    def _cut(self, drawn: Iterator[Any], iterator: Any, loader: Any, module: Any) -> Iterator[Any]:
        """Yield what the sampler of an iterator draws, up to the number of batches of the plan."""
        iterable = iterator._dataset_kind == module._DatasetKind.Iterable
        number = self._loaders.get(id(loader), -1)
        pass_number = self._passes.get(number, 0)
        indices: list[int] = []
        count = 0
        steps = self._stopper.steps
        was_cut = False
        limit = self._recorder.plan.steps
        for batch in drawn:
            if count == limit:
                rest = None if iterable else _beyond_the_end(loader, iterator, drawn, count + 1)
                if rest is None:
                    was_cut = True
                    break
                yield from chain([batch], rest, drawn)
                return
            if not count:
                self._passes[number] = pass_number + 1
                iterator._ddplint_pass = (number, pass_number)
                self._hooks.attempt("pass", self._write_pass, number, pass_number)
            count += 1
            if not iterable:
                indices.extend(batch if isinstance(batch, (list, tuple)) else [batch])
            yield batch
        # The iterator asks for more only after its last batch was used, or, with workers, was handed out to them.
        iterator._ddplint_end = (number, pass_number, count, steps, was_cut, None if iterable else indices)

    def _write_pass(self, number: int, pass_number: int) -> None:
        self._recorder.write(Kind.PASS, loader=number, number=pass_number)

    def _batch(self, start: float, batch: Any, error: BaseException | None, iterator: Any) -> None:
        if isinstance(error, StopIteration):
            self._pass_ended(iterator)
        if error is not None:
            return
        loader, pass_number = getattr(iterator, "_ddplint_pass", (None, None))
        tensor = _first_tensor(batch)
        self._recorder.write(
            Kind.BATCH,
            loader=loader,
            pass_number=pass_number,
            number=iterator._num_yielded - 1,
            wait=round(time.perf_counter() - start, 6),
            size=None if tensor is None or not tensor.dim() else tensor.shape[0],
            digest=None if tensor is None else _digest_of_batch(tensor),
            pinned=None if tensor is None else tensor.is_pinned(),
            device=None if tensor is None else str(tensor.device),
        )

    def _pass_ended(self, iterator: Any) -> None:
        end = iterator.__dict__.pop("_ddplint_end", None)
        if end is None:
            return
        number, pass_number, count, steps, was_cut, indices = end
        made = self._stopper.steps - steps
        kept = None if indices is None or any(not isinstance(index, int) for index in indices) else indices
        self._recorder.write(
            Kind.PASS_END,
            loader=number,
            number=pass_number,
            batches=count,
            steps=made,
            cut=was_cut,
            count=None if kept is None else len(kept),
            first=None if kept is None else kept[:_FIRST],
            digest=None if kept is None else digest(kept),
        )
        loader = next((one for one in self._kept if self._loaders.get(id(one)) == number), None)
        self._stopper.ended(self._key(loader), made)


def patch_worker(hooks: Hooks, module: Any) -> None:
    """Say of a process that it is a worker of a data loader, and with which random states it begins."""
    signature = inspect.signature(module._worker_loop)

    def loop(original: Any) -> Any:
        def watched(*args: Any, **kwargs: Any) -> Any:
            hooks.recorder.role = "worker"
            hooks.attempt("worker", lambda: hooks.recorder.write(Kind.ROLE, [], role="worker"))
            given = signature.bind(*args, **kwargs).arguments
            if "init_fn" in given:
                given["init_fn"] = initialised(given["init_fn"])
            return original(**given)

        return watched

    def initialised(init_fn: Any) -> Any:
        def init(worker: int) -> None:
            if init_fn is not None:
                init_fn(worker)
            hooks.attempt("worker", tell, worker)

        return init

    def tell(worker: int) -> None:
        torch, numpy = sys.modules["torch"], sys.modules.get("numpy")
        hooks.recorder.write(
            Kind.WORKER,
            [],
            worker=worker,
            seed=torch.initial_seed(),
            python=_digest_of_state(random.getstate()),
            numpy=None if numpy is None else _digest_of_state(numpy.random.get_state()),
        )

    hooks.replace(module, "_worker_loop", loop)


def digest(order: list[int]) -> str:
    """Return a digest of indices in their order."""
    return hashlib.blake2b(array("q", order).tobytes(), digest_size=8).hexdigest()


def _digest_of_batch(tensor: Any) -> str:
    flat = tensor.detach().reshape(-1)
    stride = max(1, flat.numel() // (_VALUES * max(1, tensor.shape[0] if tensor.dim() else 1)))
    return hashlib.blake2b(str(flat[::stride].tolist()).encode(), digest_size=8).hexdigest()


def _digest_of_state(state: Any) -> str:
    return hashlib.blake2b(repr(state).encode(), digest_size=8).hexdigest()


def _first_tensor(batch: Any) -> Any:
    """Return the first tensor in a batch, None where there is none."""
    if hasattr(batch, "numel") and hasattr(batch, "dim"):
        return batch
    parts = batch.values() if isinstance(batch, dict) else batch if isinstance(batch, (list, tuple)) else ()
    return next((found for found in map(_first_tensor, parts) if found is not None), None)


def _beyond_the_end(loader: Any, iterator: Any, drawn: Iterator[Any], count: int) -> list[Any] | None:
    """Return what a sampler draws after ``count`` batches, when that is more than there should be; else None.

    Batches that go on for ever are not to be cut: the class of the loader counts on them.
    """
    sampler = iterator._index_sampler
    parts = (sampler, getattr(sampler, "sampler", sampler))
    if all(type(part).__module__.startswith("torch.utils.data") for part in parts):
        return None
    length = _length(sampler)
    if length is None:
        length = _length(loader)
    if length is None:
        return []
    if length > _LONGEST:
        return None
    rest = list(islice(drawn, max(0, length - count + 1)))
    return rest if count + len(rest) > length else None


def _length(sized: Any) -> int | None:
    try:
        return len(sized)
    except Exception:
        return None
