"""Environment variables that a program sets to one value of its own in every run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Script
from ddplint.semantics.environment import EnvironmentWrite, WriteForm

if TYPE_CHECKING:
    from ddplint.project.project import Project


@dataclass(frozen=True, slots=True)
class FixedSetting:
    """A variable, the text that it is always set to, and where. ``is_default``: a value from outside goes first."""

    variable: str
    value: str
    write: EnvironmentWrite
    is_default: bool


class FixedSettings:
    """Finds the settings that nobody can choose when the program is started."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script, *variables: str) -> Iterator[FixedSetting]:
        """Yield the variables that a script sets to a constant, whatever its user says, one finding a place.

        A variable that gets different values, or one only under a test or in a copy for a child, is left out.
        """
        for variable in variables:
            writes = self._project.environment_writes(script, variable)
            values = {self._text(write) for write in writes}
            for write in writes if len(values) == 1 else ():
                value = self._text(write)
                if value is not None and write.form is not WriteForm.CHILD and not self._is_chosen(write):
                    yield FixedSetting(variable, value, write, write.form is WriteForm.DEFAULT)

    def _text(self, write: EnvironmentWrite) -> str | None:
        values = self._project.constants(write.value)
        value = next(iter(values)) if values is not None and len(values) == 1 else None
        return value if isinstance(value, str) else None

    def _is_chosen(self, write: EnvironmentWrite) -> bool:
        return self._project.switches.decide(write.at)
