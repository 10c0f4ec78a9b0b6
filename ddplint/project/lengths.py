"""How many samples a dataset has, where the code alone tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddplint.semantics import Call, Constant, Expression, Sequence
from ddplint.semantics.expressions import last_name

if TYPE_CHECKING:
    from ddplint.project.project import Project

_TENSORS = "torch.utils.data.TensorDataset"
_SUBSET = "torch.utils.data.Subset"
# Calls that make a tensor of the size that they are given first, by name and as one tuple.
_SIZED = frozenset(f"torch.{name}" for name in ("empty", "ones", "rand", "randn", "zeros", "full"))
_COUNTED = frozenset({"torch.arange", "torch.randperm", "builtins.range"})
# Samples of the datasets that everybody knows: for training and for evaluation.
_KNOWN = {
    "torchvision.datasets.CIFAR10": (50_000, 10_000),
    "torchvision.datasets.CIFAR100": (50_000, 10_000),
    "torchvision.datasets.FashionMNIST": (60_000, 10_000),
    "torchvision.datasets.KMNIST": (60_000, 10_000),
    "torchvision.datasets.MNIST": (60_000, 10_000),
}
_DEEPEST = 6


class Lengths:
    """Answers for the datasets of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, dataset: Expression, depth: int = 0) -> int | None:
        """Return the number of samples of a dataset, or of items in a tensor or list; None where that is not known."""
        answers = {self._made(origin, depth) for origin in self._project.origins(dataset)}
        return answers.pop() if len(answers) == 1 else None

    def _made(self, origin: object, depth: int) -> int | None:
        if isinstance(origin, Sequence):
            return len(origin.items)
        if not isinstance(origin, Call) or depth == _DEEPEST:
            return None
        names = self._project.names(origin.callee)
        first = origin.arguments[0].value if origin.arguments and not origin.arguments[0].star else None
        if len(names) == 1 and names <= _KNOWN.keys():
            return self._known(origin, *_KNOWN[min(names)])
        if first is None:
            return None
        if names == {_TENSORS}:
            return self.of(first, depth + 1)
        if names == {_SUBSET}:
            indices = self._project.argument(origin, "indices")
            return self.of(indices, depth + 1) if isinstance(indices, Expression) else None
        if names <= _COUNTED and len([given for given in origin.arguments if given.keyword is None]) == 1:
            return self._number(first)
        sized = names <= _SIZED or (last_name(origin) == "randint" and names == {"torch.randint"})
        return self._size(origin, names) if sized else None

    def _size(self, made: Call, names: frozenset[str]) -> int | None:
        """Return the first dimension of a tensor: that of the tuple that gives its size, or the first number."""
        sizes = [given.value for given in made.arguments if given.keyword in (None, "size")]
        tuples = [size for size in sizes if isinstance(size, Sequence)]
        if tuples:
            return self._number(tuples[0].items[0]) if tuples[0].items else None
        return self._number(sizes[0]) if sizes and not names & {"torch.full", "torch.randint"} else None

    def _known(self, made: Call, training: int, evaluation: int) -> int | None:
        given = {argument.keyword: argument.value for argument in made.arguments}
        train = given.get("train", made.arguments[1].value if len(made.arguments) > 1 else None)
        if None in given and isinstance(train, Expression) and not isinstance(train, Constant):
            return None
        if train is None or (isinstance(train, Constant) and train.value is True):
            return training
        return evaluation if isinstance(train, Constant) and train.value is False else None

    def _number(self, value: Expression) -> int | None:
        numbers = self._project.constants(value)
        number = next(iter(numbers)) if numbers is not None and len(numbers) == 1 else None
        return number if type(number) is int else None
