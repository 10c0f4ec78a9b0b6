"""A port that is written into the code, so that a second job on the machine cannot start

## What it finds

The port at which the processes of a job meet, as a constant: `os.environ["MASTER_PORT"] = "12355"` in its forms
(`update`, `putenv`, a copy of the environment for a child), the port of a `tcp://` URL that comes to
`init_process_group`, the port of a `TCPStore`, and `--master_port` in a command line that the script starts. It is
followed through variables, attributes, f-strings, `format` and the files of the project. A number outside 1 to 65535
is reported wherever it stands, and as certain.

It is silent where the constant is only a way out: `setdefault`, `os.environ.get(..., default)`, an option or setting
with a default, a branch that first asks for `MASTER_PORT`, a port or a URL, an `except` block, and a branch in which
one process runs alone. Tests and scripts that call `init_rpc` are left out.

## Why it matters

Two jobs on one machine want the same port: the second fails with "address already in use", or, worse, its processes
find the first job and hang. Under torchrun the assignment throws away the port that torchrun chose and listens on;
all processes then wait for a port that nobody opens.

## Symptoms

- RuntimeError: The server socket has failed to listen on any local network address. EADDRINUSE
- address already in use
- errno: 98 - Address already in use

## Example

```python bad
import os

import torch.distributed as dist


def setup():
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = "12355"  #~ DDP401
    dist.init_process_group("nccl")
```

```python fixed
import os

import torch.distributed as dist


def setup():
    os.environ.setdefault("MASTER_ADDR", "localhost")
    os.environ.setdefault("MASTER_PORT", "12355")
    dist.init_process_group("nccl")
```

Where the script spawns its own processes, the parent finds a free port before:

```python bad
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def run(rank, world_size):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = "12355"  #~ DDP401
    dist.init_process_group("nccl", rank=rank, world_size=world_size)


if __name__ == "__main__":
    gpus = torch.cuda.device_count()
    mp.spawn(run, args=(gpus,), nprocs=gpus)
```

```python fixed
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import socket


def run(rank, world_size):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ.setdefault("MASTER_PORT", "12355")
    dist.init_process_group("nccl", rank=rank, world_size=world_size)


if __name__ == "__main__":
    gpus = torch.cuda.device_count()
    with socket.socket() as probe:
        probe.bind(("", 0))
        os.environ.setdefault("MASTER_PORT", str(probe.getsockname()[1]))
    mp.spawn(run, args=(gpus,), nprocs=gpus)
```

An option that the user can set is no constant:

```python good
import argparse

import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--dist-url", default="tcp://127.0.0.1:23456")
args = parser.parse_args()
dist.init_process_group("nccl", init_method=args.dist_url, world_size=2, rank=0)
```

## Fix

Safe: a run that worked finds the same port as before, unless MASTER_PORT is set or the parent finds a free one. An
assignment becomes `setdefault`, and a constant MASTER_ADDR beside it, too, when no process is spawned. The literal URL
of the machine itself reads its port from MASTER_PORT. The lines that find a free port are inserted where the script
says that all processes run on one machine. In both places a number that is no port becomes torch's own default,
29500. There is no fix for `update`, `putenv`, TCPStore, command lines, and URLs that are put together from variables
or name another machine.

## At run time

Confirmed when a second start beside the first fails to bind the port, or when the port is out of range and torch
refuses it. Refuted when two starts use different ports. Not exercised when no process group was made.

## References

- Environment variable initialization: https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization
- What torchrun sets: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ddplint.rulekit import (
    Applicability,
    BindingKind,
    Confidence,
    Edit,
    Editor,
    Fix,
    Found,
    Impact,
    MeetingForm,
    MeetingPort,
    Name,
    Project,
    Role,
    Rule,
    Scope,
    Script,
    Statement,
    Store,
    WriteForm,
)

RULE = Rule(
    code="DDP401",
    name="hardcoded-port",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("MASTER_PORT", "tcp://", "TCPStore", "master_port", "master-port", "main_process_port"),
    applicability=Applicability.SAFE,
)

_LOOPBACK = frozenset({"localhost", "127.0.0.1"})
_SPAWNING_WORDS = (b"spawn(", b"Process(", b"start_processes(")
_NAMES = ("os", "socket", "probe")  # of the lines that find a free port
_LOCAL_URL = re.compile(r"(tcp://(?:localhost|127\.0\.0\.1)):-?\d+")
_REMEDIES = {
    WriteForm.ITEM: 'write `os.environ.setdefault("MASTER_PORT", ...)`',
    WriteForm.UPDATE: 'take it out of the update and write `os.environ.setdefault("MASTER_PORT", ...)`',
    WriteForm.PUTENV: 'write `os.environ.setdefault("MASTER_PORT", ...)`, which os.environ also shows',
    WriteForm.CHILD: "find a free port for the child",
}


def check(script: Script, project: Project) -> Iterator[Found]:
    if project.role(script) is Role.TEST or "init_rpc(" in script.source.text:
        return
    for port in project.meeting_ports(script):
        found = _judge(port, script, project)
        if found is not None:
            yield found


def _judge(port: MeetingPort, script: Script, project: Project) -> Found | None:
    number = int(port.port)
    if number == 0 and port.form in (MeetingForm.STORE, MeetingForm.LAUNCHER):
        return None  # they ask the system for a free one and tell the others
    is_port = 1 <= number <= 65535
    if is_port and port.write is WriteForm.DEFAULT:
        return None
    at = port.maker if port.form is MeetingForm.URL and port.maker.scope.script is script else port.at
    made_elsewhere = port.maker.statement is not at.statement
    return Found(
        at=at,
        message=_constant(port) if is_port else _impossible(port),
        confidence=Confidence.LIKELY if is_port else Confidence.CERTAIN,
        related=((port.maker, "the port is written here"),) if made_elsewhere else (),
        subject=(project, port),
    )


def _impossible(port: MeetingPort) -> str:
    where = "MASTER_PORT" if port.form is MeetingForm.VARIABLE else port.form.value
    remedy = 'let the launcher choose, or write `os.environ.setdefault("MASTER_PORT", "29500")`'
    if int(port.port) == 0:
        return f"port 0 in {where} is any free port, and the other processes cannot know which one; {remedy}"
    return f"{port.port} in {where} is no port: they go from 1 to 65535, and torch refuses any other; {remedy}"


def _constant(port: MeetingPort) -> str:
    if port.write is not None:
        return (
            f"MASTER_PORT is always {port.port}: a second job on the machine cannot bind it, and what torchrun chose "
            f"is lost; {_REMEDIES[port.write]}"
        )
    return (
        f"port {port.port} is written into {port.form.value}: a second job on the machine cannot bind it; "
        "take it from MASTER_PORT, or find a free one before the processes start"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    project, port = _subject(found)
    before = _before_the_processes(port, project)
    freed = _free_port(before, edits) if _can_find_port(before, port, project) else ()
    if port.write is WriteForm.ITEM and isinstance(port.at, Store):
        if freed and before == [port.at.statement]:
            return _fix("Find a free port, unless MASTER_PORT is set", freed + edits.remove_statement(before[0].node))
        own = _as_default(port.at, edits, None if found.confidence is Confidence.LIKELY else '"29500"')
        if not project.mentions(port.at.region.scope.script, _SPAWNING_WORDS):
            own += _address_as_default(port.at, project, edits)
    else:
        own = _url_from_environment(port, edits, is_set=bool(freed) and before == [port.maker.statement])
    if not own:
        return None
    return _fix("Keep a MASTER_PORT that is set" + (", else find a free port" if freed else ""), own + freed)


def _fix(message: str, edits: tuple[Edit, ...]) -> Fix:
    return Fix(Applicability.SAFE, message, tuple(dict.fromkeys(edits)))


def _subject(found: Found) -> tuple[Project, MeetingPort]:
    assert isinstance(found.subject, tuple)
    project, port = found.subject
    assert isinstance(project, Project)
    assert isinstance(port, MeetingPort)
    return project, port


def _before_the_processes(port: MeetingPort, project: Project) -> list[Statement]:
    """Return the statements of this file before which the parent can still choose the port."""
    place = port.maker if port.form is MeetingForm.URL else port.at
    scope = place.region.scope
    if any(call.scope is scope and call.order > place.order for call in project.launches(scope.script)):
        return [place.statement]
    function = port.at.region.scope.function
    return [] if function is None else [call.statement for call in project.spawners(function)]


def _as_default(store: Store, edits: Editor, value: str | None = None) -> tuple[Edit, ...]:
    """Turn ``os.environ[key] = value`` into a call of setdefault, where it stands by itself."""
    statement: Any = store.statement.node
    lines = getattr(statement, "body", ())
    assignment: Any = lines[0] if lines else statement
    if len(getattr(assignment, "targets", ())) != 1:
        return ()
    target: Any = store.node
    key = edits.source_text(target.slice[0])
    text = edits.source_text(assignment.value) if value is None else value
    return edits.replace(assignment, f"{edits.source_text(target.value)}.setdefault({key}, {text})")


def _address_as_default(beside: Store, project: Project, edits: Editor) -> tuple[Edit, ...]:
    """Keep a MASTER_ADDR that belongs to the MASTER_PORT which is kept."""
    stores = [
        write.at
        for write in project.environment_writes(beside.region.scope.script, "MASTER_ADDR")
        if write.form is WriteForm.ITEM and write.at.region is beside.region and project.constants(write.value)
    ]
    return tuple(edit for store in stores if isinstance(store, Store) for edit in _as_default(store, edits))


def _url_from_environment(port: MeetingPort, edits: Editor, *, is_set: bool) -> tuple[Edit, ...]:
    """Let the literal URL of a machine's own address read its port from the environment."""
    match = _LOCAL_URL.fullmatch(port.text)
    is_here = port.maker.scope.script is port.at.region.scope.script
    is_literal = not any(isinstance(part, Name) for part in port.maker.walk())
    if port.form is not MeetingForm.URL or match is None or not (is_here and is_literal):
        return ()
    default = port.port if 1 <= int(port.port) <= 65535 else "29500"
    read = "os.environ['MASTER_PORT']" if is_set else f"os.environ.get('MASTER_PORT', '{default}')"
    text = f'f"{match[1]}:{{{read}}}"'
    return (*edits.replace(port.maker.node, text), *edits.add_import("import os"))


def _free_port(before: list[Statement], edits: Editor) -> tuple[Edit, ...]:
    """Find a free port before these statements, unless one is set."""
    lines = (
        "with socket.socket() as probe:",
        '    probe.bind(("", 0))',
        '    os.environ.setdefault("MASTER_PORT", str(probe.getsockname()[1]))',
    )
    inserted = [edit for statement in before for edit in edits.insert_statements_before(statement.node, lines)]
    return (*inserted, *edits.add_import("import os"), *edits.add_import("import socket"))


def _can_find_port(before: list[Statement], port: MeetingPort, project: Project) -> bool:
    """Whether the processes meet on the machine of their parent, and the lines that find a port can stand there."""
    script = port.at.region.scope.script
    return (
        bool(before)
        and (port.form is MeetingForm.URL or _is_local(port, project))
        and all(statement.region.scope.script is script and not statement.region.loops for statement in before)
        and not any(_is_taken(name, statement.region.scope) for name in _NAMES for statement in before)
    )


def _is_taken(name: str, scope: Scope) -> bool:
    return any(binding.kind is not BindingKind.IMPORT for binding in scope.bindings.get(name, ()))


def _is_local(port: MeetingPort, project: Project) -> bool:
    """Whether the code around a port gives the address of the machine itself."""
    scope = port.at.region.scope
    writes = project.environment_writes(scope.script, "MASTER_ADDR")
    given = [project.constants(write.value) for write in writes if write.at.region.scope is scope]
    return bool(given) and all(addresses is not None and addresses <= _LOOPBACK for addresses in given)
