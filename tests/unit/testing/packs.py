"""Rule packs made on the spot: one rule that finds calls of ``bad``, with the documentation that a test wants."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from ddplint.rulekit.pack import RegisteredRule
from ddplint.testing import rules_of

BAD = "```python bad\nbad(1)  #~ DDP901\n```\n"
FIXED = "```python fixed\ngood(1)\n```\n"
GOOD = "```python good\ngood(1)\n```\n"
MODULE = '''"""A call of bad

## What it finds
Calls of `bad`.

## Why it matters
It is bad.

## Example
{examples}
## Fix
Call `good`.

## At run time
Nothing.

## References
None.
"""

from ddplint.rulekit import Applicability, Fix, Found, Impact, Name, Rule

RULE = Rule("DDP901", "{name}", Impact.SLOW, "0.1.0", ("bad",), applicability={promise})


def check(script, project):
    for call in script.calls:
        if isinstance(call.callee, Name) and call.callee.id == "bad":
            yield Found(call, "{message}")
'''
FIX = """

def fix(found, edits):
    return Fix(Applicability.{made}, "call good", edits.replace(found.at.callee.node, "{into}"))
"""
_numbers = count()


def pack_of(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *examples: str,
    name: str = "bad-call",
    message: str = "bad is called",
    promise: str | None = "SAFE",
    made: str | None = "SAFE",
    into: str = "good",
) -> tuple[str, RegisteredRule]:
    """Write a pack with one rule and return the pack's name and the rule."""
    pack = f"made_up_rules_{next(_numbers)}"  # packs are imported, so each needs a name of its own
    (folder / pack).mkdir()
    (folder / pack / "__init__.py").touch()
    text = MODULE.format(
        examples="\n".join(examples),
        name=name,
        message=message,
        promise=f"Applicability.{promise}" if promise else None,
    )
    text += FIX.format(made=made, into=into) if made else ""
    (folder / pack / "bad_call.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    (rule,) = rules_of(pack)
    return pack, rule
