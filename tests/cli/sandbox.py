"""The command line through a real process, on files in a temporary folder, with a small rule pack of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# The rules of the pack: what each looks for is a call of the function named here.
RULE = '''"""{word} is called

## What it finds
Calls of {word}.

## Why it matters
It does not.

## Example
```python bad
{word}()  #~ {code}
```
```python good
other()
```

## Fix
As the test needs it.

## At run time
Nothing.

## References
None.
"""

from __future__ import annotations

from ddplint.rulekit import Applicability, Confidence, Found, Impact, Rule

RULE = Rule(code="{code}", name="{name}", impact=Impact.{impact}, since="0.1.0", triggers=("{word}",), {registration})


def check(script, project):
    for call in script.calls:
        if getattr(call.callee, "id", None) == "{word}":
            {action}
'''
FIX = """

def fix(found, edits):
    from ddplint.rulekit import Fix

    return Fix(Applicability.{promise}, "call {into} instead", edits.replace(found.at.callee.node, "{into}"))
"""
FOUND = 'yield Found(call, "{word} is called")'


def rule(
    code: str, name: str, word: str, *, impact: str = "SLOW", promise: str = "", into: str = "", action: str = ""
) -> str:
    registration = f"applicability=Applicability.{promise}" if promise else ""
    action = action or FOUND.format(word=word)
    text = RULE.format(code=code, name=name, word=word, impact=impact, registration=registration, action=action)
    return text + (FIX.format(promise=promise, into=into) if promise else "")


PACK = {
    "plain": rule("DDP991", "plain-call", "plain", impact="HANG"),
    "mendable": rule("DDP992", "mendable-call", "mendable", promise="SAFE", into="mended"),
    "risky": rule("DDP993", "risky-call", "risky", promise="UNSAFE", into="dared"),
    "spoiling": rule("DDP994", "spoiling-call", "spoiling", promise="SAFE", into="))"),
    "raising": rule("DDP995", "raising-rule", "raising", action='raise ValueError("this rule is broken")'),
    "possible": rule(
        "DDP996", "possible-call", "possible", action='yield Found(call, "perhaps", confidence=Confidence.POSSIBLE)'
    ),
    "slow": rule(
        "DDP998",
        "slow-rule",
        "slow",
        action="open('started', 'w').close(); import time; time.sleep(0.4); yield from ()",
    ),
    "deadly": rule("DDP997", "deadly-rule", "deadly", action="import os; os.kill(os.getpid(), 11); yield from ()"),
}


class Sandbox:
    """A temporary folder in which ``ddplint`` runs."""

    def __init__(self, folder: Path, packs: Path) -> None:
        self.folder = folder
        self.packs = packs
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(packs), *sys.path]), "PYTHONUTF8": "1"}
        self.environment.pop("NO_COLOR", None)

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def read(self, name: str) -> str:
        return (self.folder / name).read_bytes().decode()

    def run(
        self, *arguments: str, stdin: bytes = b"", environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = self.run_bytes(*arguments, stdin=stdin, environment=environment)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def run_bytes(
        self, *arguments: str, stdin: bytes = b"", environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "ddplint", *arguments],
            cwd=self.folder,
            env={**self.environment, **(environment or {})},
            input=stdin,
            capture_output=True,
            timeout=100,
            check=False,
        )
