"""What DDP000 says of a file that does not parse, whatever Python runs the linter."""

from __future__ import annotations

import pytest

from ddplint.rulekit import Impact, ParseFailure, SourceFile
from ddplint.testing import observe, rules_of

(RULE,) = (rule for rule in rules_of() if rule.rule.code == "DDP000")
# A word without which the file would not be parsed at all.
WAKE = "DataParallel = None\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param('print "loss", 1\n', 2, "write `print(...)`", id="a print statement"),
        pytest.param('if x: print "a"\n', 2, "write `print(...)`", id="a print statement behind a colon"),
        pytest.param("def f(x):\n    print x\n", 3, "write `print(...)`", id="a name printed"),
        pytest.param('exec "x = 1"\n', 2, "write `exec(code, namespace)`", id="an exec statement"),
        pytest.param("x = `y`\n", 2, "write `repr(...)`", id="backticks"),
        pytest.param("if x:\n        a = 1\n\tb = 2\n", 4, "use spaces alone", id="eight spaces and a tab"),
        pytest.param("if x:\n    a = 1\n\tb = 2\n", 4, "use spaces alone", id="four spaces and a tab"),
        pytest.param("def f(x, async=False):\n    pass\n", 2, "`async` is a keyword", id="async as a parameter"),
        pytest.param("async = 1\n", 2, "`async` is a keyword", id="async as a variable"),
        pytest.param("try:\n    f()\nexcept OSError, e: print e\n", 4, "Python 2", id="an old handler that prints"),
        pytest.param('raise ValueError, "x"\n', 2, "write `raise X(text)`", id="an old raise"),
        pytest.param("os.makedirs(p, 0755)\n", 2, "write `0o...`", id="an old octal number"),
        pytest.param("x = 10L\n", 2, "leave the `L` out", id="a long number"),
        pytest.param("if a <> b:\n    pass\n", 2, "write `!=`", id="the old unequal"),
        pytest.param("<<<<<<< HEAD\nx = 1\n", 2, "conflict markers", id="a merge that was not finished"),
        pytest.param("!pip install torch\n", 2, "a line of a notebook", id="a shell line of a notebook"),
        pytest.param("x = foo(1,\ny = 2\n", 2, "'(' was never closed", id="an open bracket"),
        pytest.param("if x:\npass\n", 3, "expected an indented block", id="a body without indentation"),
        pytest.param("x = 'abc\n", 2, "unterminated string literal", id="an open string"),
        pytest.param('x = """abc\n', 2, "unterminated triple-quoted string literal", id="an open long string"),
        pytest.param("def f(:", 2, "invalid syntax", id="the end of the file in the middle"),
    ],
)
def test_the_message_says_what_it_is_and_how_to_repair_it(text: str, line: int, words: str) -> None:
    observed = observe({"train.py": WAKE + text}, RULE)
    assert observed.failures == ()
    assert [(finding.place.start.line, words in finding.message) for finding in observed.findings] == [(line, True)]


def test_what_python_takes_and_our_parser_does_not_is_no_crash() -> None:
    assert RULE.check_unparsable is not None
    source = SourceFile("train.py", "x = 1\n")
    (found,) = RULE.check_unparsable(source, ParseFailure("unknown", 9, 9))
    assert found.impact is Impact.NOISE
    assert found.at == (source.position(6), source.position(6))
