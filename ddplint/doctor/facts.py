"""Facts about a machine, as a child process read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Facts:
    """A tree of named facts; what could not be read is not in it."""

    tree: Mapping[str, Any]

    def get(self, path: str) -> Any:
        """Return the fact at a path such as ``torch.version``, None where it is not known."""
        at: Any = self.tree
        for name in path.split("."):
            if not isinstance(at, Mapping) or name not in at:
                return None
            at = at[name]
        return at

    def text(self, path: str) -> str | None:
        """Return a fact that is a text."""
        value = self.get(path)
        return value if isinstance(value, str) else None

    def number(self, path: str) -> int | None:
        """Return a fact that is a whole number."""
        value = self.get(path)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def each(self, path: str) -> Iterator[Facts]:
        """Yield the facts of each of several things, such as ``gpus``."""
        value = self.get(path)
        if isinstance(value, Sequence) and not isinstance(value, str):
            yield from (Facts(item) for item in value if isinstance(item, Mapping))

    def variable(self, name: str) -> str | None:
        """Return an environment variable, None where it is not set."""
        return self.text(f"environment.{name}")

    @property
    def gpus(self) -> list[Facts]:
        """The GPUs of this machine that processes may use."""
        return list(self.each("gpus"))

    @property
    def cards(self) -> list[Facts]:
        """What NVML knows of the GPUs that processes may use; of all of them where it can't be said which these are."""
        known = list(self.each("cards"))
        usable = {str(gpu.text("uuid")).removeprefix("GPU-") for gpu in self.gpus}
        found = [card for card in known if str(card.text("uuid")).removeprefix("GPU-") in usable]
        return found or known

    @property
    def missing(self) -> Mapping[str, str]:
        """Why whole parts could not be read, by their names."""
        value = self.get("missing")
        return value if isinstance(value, Mapping) else {}
