"""The ports at which the processes of a program meet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from ddplint.semantics import Attribute, Call, Expression, Name, Script, Sequence
from ddplint.semantics.arguments import argument
from ddplint.semantics.environment import EnvironmentWrite, WriteForm, environment_writes
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.structure import BindingKind, Store
from ddplint.semantics.texts import HOLE, Texts

PORT_VARIABLE = "MASTER_PORT"
_NUMBER = re.compile(r"^\s*(-?\d+)\s*$")
_URL_PORT = re.compile(r"tcp://[^/?#]*:(-?\d+)(?:[/?#]|$)")
_OPTION = re.compile(r"--(?:master[_-]port|main[_-]process[_-]port)\b")
_OPTION_PORT = re.compile(_OPTION.pattern + r"[= ](-?\d+)(?= |$)")
_STARTERS = frozenset(
    {
        "os.system",
        "os.popen",
        "subprocess.run",
        "subprocess.call",
        "subprocess.check_call",
        "subprocess.check_output",
        "subprocess.Popen",
    }
)
_HANDED_TO = frozenset({"init_process_group", "TCPStore", *(name.rpartition(".")[2] for name in _STARTERS)})


class MeetingForm(Enum):
    """Where a port is written down."""

    VARIABLE = "the environment"
    URL = "the URL given to init_process_group"
    STORE = "a TCPStore"
    LAUNCHER = "the command line of a launcher"


@dataclass(frozen=True, slots=True, eq=False)
class MeetingPort:
    """A port that is written into the code.

    ``port`` is the number as text, ``text`` all that the value says. ``value`` is the expression that gives it,
    ``maker`` the expression, perhaps in another place, that the value was made by. ``at`` is the call or the store
    that hands it on; ``write`` tells how the environment is written.
    """

    form: MeetingForm
    port: str
    text: str
    value: Expression
    maker: Expression
    at: Call | Store
    write: WriteForm | None = None


class Rendezvous:
    """Finds the ports that are written into scripts."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._texts = Texts(resolver)
        self._written = Texts(resolver, as_written=True)

    def ports(self, script: Script) -> Iterator[MeetingPort]:
        """Yield the ports that a script hands on and that can be read off the code, in no particular order."""
        for write in environment_writes(self._resolver, script, PORT_VARIABLE):
            yield from self._of_variable(write)
        for call in script.calls:
            if _last_name(call) in _HANDED_TO:
                yield from self._of_call(call)

    def _of_call(self, call: Call) -> Iterator[MeetingPort]:
        names = self._resolver.names(call.callee)
        if names == {"torch.distributed.init_process_group"}:
            yield from self._read(MeetingForm.URL, call, argument(self._resolver, call, "init_method"), _URL_PORT)
        elif names == {"torch.distributed.TCPStore"}:
            yield from self._read(MeetingForm.STORE, call, argument(self._resolver, call, "port"), _NUMBER)
        elif names <= _STARTERS and call.arguments:
            yield from self._of_command(call, call.arguments[0].value)

    def _of_variable(self, write: EnvironmentWrite) -> Iterator[MeetingPort]:
        for port in self._read(MeetingForm.VARIABLE, write.at, write.value, _NUMBER):
            yield replace(port, write=write.form)

    def _read(
        self, form: MeetingForm, at: Call | Store, value: object, pattern: re.Pattern[str]
    ) -> Iterator[MeetingPort]:
        """Yield the ports in what an expression can be, unless it can also be something that somebody else gives."""
        if not isinstance(value, Expression):
            return
        origins = [origin for origin in self._resolver.origins(value) if origin is not value or _is_read_off(value)]
        texts = [(origin, self._texts.of(origin)) for origin in origins]
        if any(HOLE in text and not pattern.search(text) for _, text in texts):
            return
        for origin, text in texts:
            match = pattern.search(text)
            if match is not None and isinstance(origin, Expression):
                yield MeetingPort(form, match[1], text, value, origin, at)

    def _of_command(self, call: Call, command: Expression) -> Iterator[MeetingPort]:
        """Yield the port options of a command line, a text or a list of words, that is written near its start."""
        for line in _nearby(command):
            words = line.items if isinstance(line, Sequence) else (line,)
            if not _OPTION.search(" ".join(map(self._written.of, words))):
                continue
            text = " ".join(map(self._text, words))
            match = _OPTION_PORT.search(text)
            if match is not None:
                yield MeetingPort(MeetingForm.LAUNCHER, match[1], text, command, line, call)

    def _text(self, expression: Expression) -> str:
        texts = {self._texts.of(origin) for origin in self._resolver.origins(expression)}
        return texts.pop() if len(texts) == 1 else HOLE


def _nearby(expression: Expression) -> Iterator[Expression]:
    """Yield an expression, or what a variable was assigned in the same function."""
    bindings = reaching(expression.id, expression) if isinstance(expression, Name) else None
    if bindings is None:
        yield expression
    for binding in bindings or ():
        if binding.kind is BindingKind.ASSIGNMENT and binding.value is not None and not binding.path:
            yield binding.value


def _is_read_off(value: Expression) -> bool:
    """Whether an expression is its own origin because it is written out, not because it may be set out of sight."""
    return not isinstance(value, Attribute)


def _last_name(call: Call) -> str:
    callee = call.callee
    return callee.id if isinstance(callee, Name) else callee.name if isinstance(callee, Attribute) else ""
