"""The examples of the written pages: what is marked in them is what the program finds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ddplint.rulekit.documentation import marks, without_marks
from ddplint.testing.bench import observe

DOCS = Path(__file__).parents[2] / "docs"
# The rules that a page speaks of; what others have to say about its short examples is no matter of it.
SPOKEN_OF = {"ranks.md": {"DDP501", "DDP502", "DDP601"}}
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(page, block[1], id=f"{page}, line {text.count(chr(10), 0, block.start()) + 1}")
    for page in SPOKEN_OF
    for text in [(DOCS / page).read_text(encoding="utf-8")]
    for block in BLOCK.finditer(text)
]


@pytest.mark.parametrize(("page", "code"), EXAMPLES)
def test_the_marked_lines_of_an_example_are_found_and_no_others(page: str, code: str) -> None:
    observed = observe({"train.py": without_marks(code)})
    found = [(one.place.start.line, one.code) for one in observed.findings if one.code in SPOKEN_OF[page]]
    assert observed.failures == ()
    assert sorted(found) == sorted(marks(code))


def test_each_rule_that_a_page_speaks_of_is_in_an_example() -> None:
    for page, codes in SPOKEN_OF.items():
        text = (DOCS / page).read_text(encoding="utf-8")
        assert {code for block in BLOCK.finditer(text) for _, code in marks(block[1])} == codes
