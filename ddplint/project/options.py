"""Command-line options: what ``args.lr`` is when the user says nothing, and what its help says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Constant, Expression, Script

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Files of a program that are searched for the definition of an option.
SEARCHED = 40


@dataclass(frozen=True, slots=True)
class Option:
    """One ``add_argument`` call: the default it gives, None when it gives none, and the help text."""

    call: Call
    default: Expression | None
    help: str


class Options:
    """Answers for the options that the scripts of a program define with argparse."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[int, dict[str, Option]] = {}

    def of(self, expression: Expression) -> Option | None:
        """Return the option that an attribute such as ``args.batch_size`` reads, None for anything else."""
        if not isinstance(expression, Attribute):
            return None
        for script in self._scripts(expression.scope.script):
            option = self._in_script(script).get(expression.name)
            if option is not None:
                return option
        return None

    def _scripts(self, script: Script) -> Iterator[Script]:
        yield script
        searched = 0
        for path in self._project.program_of(script):
            if searched == SEARCHED:
                return
            if b"add_argument" in self._project.files.content(path):
                searched += 1
                other = self._project.script(path)
                if other is not None and other is not script:
                    yield other

    def _in_script(self, script: Script) -> dict[str, Option]:
        if id(script) not in self._known:
            calls = (call for call in script.calls if _is_definition(call))
            self._known[id(script)] = {name: option for call in calls for name, option in _defined(call)}
        return self._known[id(script)]


def _is_definition(call: Call) -> bool:
    return isinstance(call.callee, Attribute) and call.callee.name == "add_argument"


def _defined(call: Call) -> Iterator[tuple[str, Option]]:
    keywords = {given.keyword: given.value for given in call.arguments if given.keyword is not None}
    flags = [text for given in call.arguments if given.keyword is None for text in _text(given.value)]
    long = [flag.lstrip("-") for flag in flags if flag.startswith("--")] or [flag.lstrip("-") for flag in flags]
    names = [*_text(keywords.get("dest")), *long]
    if names:
        help_text = "".join(_text(keywords.get("help")))
        yield names[0].replace("-", "_"), Option(call, keywords.get("default"), help_text)


def _text(expression: Expression | None) -> list[str]:
    return [expression.value] if isinstance(expression, Constant) and isinstance(expression.value, str) else []
