"""A file that Python cannot parse, so that the script cannot start

## What it finds

A file that is not valid Python 3, at the place where reading it fails. Forms of Python 2 and names that have become
keywords are recognised, and the message says what to write today. Where it is certain what was meant (`print "x"`,
`except X, e`, `raise X, "text"`, backticks, `<>`, `10L`), the rest of the file is checked all the same; else its other
mistakes are found once this one is repaired. Of `cuda(async=True)`, where that is all, DDP810 speaks instead.

It speaks of files that hold a word of one of the selected rules; a file that has nothing to do with training is not
parsed at all.

## Why it matters

Every process of the job stops before its first line. On a cluster this is seen only after the job has waited for its
nodes. In a module that is imported late, or on one rank only, the other ranks wait for a process that is gone.

## Example

A script written for Python 2:

```python bad
import torch

model = torch.nn.DataParallel(torch.nn.Linear(4, 2))
print "parameters:", len(list(model.parameters()))  #~ DDP000
```

A function that was written before `async` became a keyword:

```python bad
import torch


def to_gpu(batch, async=True):  #~ DDP000
    return batch.cuda(non_blocking=async)


model = torch.nn.DataParallel(torch.nn.Linear(4, 2))
```

What these say in Python 3:

```python good
import torch


def to_gpu(batch, non_blocking=True):
    return batch.cuda(non_blocking=non_blocking)


model = torch.nn.parallel.DistributedDataParallel
print("model:", model)
```

## Fix

None: text that cannot be parsed cannot be changed with any certainty.

## At run time

Confirmed when the interpreter refuses the file; nothing of it runs.

## References

- Python's own words for what it refuses: https://docs.python.org/3/tutorial/errors.html#syntax-errors
- What changed between Python 2 and 3: https://docs.python.org/3/howto/pyporting.html
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from ddplint.rulekit import Confidence, Found, Impact, ParseFailure, Position, Rule, SourceFile

RULE = Rule(code="DDP000", name="syntax-error", impact=Impact.CRASH, since="0.1.0", triggers=())


# What stands at the refused place, what it is, and what to do about it. The first that fits is taken.
_AT_PLACE = (
    (r"^print\b", "`print` is a statement of Python 2", "write `print(...)`"),
    (r"^exec\b", "`exec` is a statement of Python 2", "write `exec(code, namespace)`"),
    (r"^`", "backticks are Python 2", "write `repr(...)`"),
)
# The same for the line of the refused place: here Python does not always point at what is wrong.
_ON_LINE = (
    (r"^\s*[%!?]", "this is a line of a notebook, not of a script", "take it out"),
    (r"^(?:<{7}|={7}|>{7}|\|{7})(?:\s|$)", "a merge has left its conflict markers", "keep one of the two sides"),
    (r"\.(?:cuda|to)\(.*\basync\s*=", "`async` is a keyword since Python 3.7", "write `non_blocking=`"),
    (
        r"\basync\b(?!\s+(?:def|for|with)\b)",
        "`async` is a keyword since Python 3.7",
        "write `non_blocking` where it is an argument of torch, else another name",
    ),
    (r"\bexcept\b[^:#]*,\s*\w+\s*:", "`except X, e` is Python 2", "write `except X as e`"),
    (r"\braise\s+[\w.]+\s*,", "`raise X, text` is Python 2", "write `raise X(text)`"),
    (r"<>", "`<>` is Python 2", "write `!=`"),
    (r"(?<![\w.])0\d+\b", "octal numbers that start with a bare 0 are Python 2", "write `0o...`"),
    (r"(?<![\w.])\d+[lL]\b", "numbers that end in `L` are Python 2", "leave the `L` out"),
    (r"(?<!\w)[uU][rR]['\"]", "strings that start with `ur` are Python 2", "write `r`"),
    (r"\bdef\s+\w+\s*\((?:[^()]*,)?\s*\(", "a tuple as a parameter is Python 2", "take it apart in the function"),
)


def check_unparsable(source: SourceFile, failure: ParseFailure) -> Iterator[Found]:
    """Say where and why the file cannot be parsed."""
    error = _refusal(source.text if failure.refused is None else failure.refused)
    if error is None:
        # Python takes the file and our parser does not: nothing is wrong with the file, but it was not checked.
        start = _position(source, failure.line, failure.column)
        text = "ddplint cannot parse this file, though Python can; nothing in it was checked"
        yield Found((start, start), text, Confidence.CERTAIN, impact=Impact.NOISE)
        return
    start = _position(source, error.lineno, error.offset)
    end = _position(source, error.end_lineno, error.end_offset)
    what, remedy = _explained(source, start, error)
    checked = "nothing in this file was checked" if failure.refused is None else "the rest was checked as it was meant"
    text = f"not valid Python 3: {what}; the script cannot start, and {checked}{remedy}"
    yield Found((start, max(start, end)), text, Confidence.CERTAIN)


def _refusal(text: str) -> SyntaxError | None:
    """Ask Python itself, which knows the place better than our parser; None when it takes the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in strings are not what is asked for
            ast.parse(text)
    except SyntaxError as error:
        return error
    return None


def _explained(source: SourceFile, at: Position, error: SyntaxError) -> tuple[str, str]:
    """Return what is wrong and, after a semicolon, what to do, or nothing."""
    line = source.line(at.line)
    if isinstance(error, TabError):
        return "tabs and spaces are mixed in the indentation, which Python 3 refuses", "; use spaces alone"
    for text, forms in ((line[at.column - 1 :], _AT_PLACE), (line, _ON_LINE)):
        for pattern, what, remedy in forms:
            if re.search(pattern, text):
                return what, f"; {remedy}"
    return " ".join(error.msg.split()).rstrip(".?"), ""


def _position(source: SourceFile, line: int | None, column: int | None) -> Position:
    """Return the nearest position that the file has: Python sometimes points past a line or past the end."""
    number = min(max(line or 1, 1), len(source.line_starts))
    return Position(number, min(max(column or 1, 1), len(source.line(number)) + 1))
