"""Text that Python refuses, read as it was meant."""

from __future__ import annotations

import pytest

from ddplint.semantics import ParseFailure
from ddplint.semantics.parse import parse
from ddplint.source import SourceFile
from ddplint.source.spans import Spans

REPAIRED = [
    pytest.param("x = x.cuda(async=True)\n", True, id="async as an argument"),
    pytest.param("x.to(d,\n     async = True)\n", True, id="async on a line of its own"),
    pytest.param("print 'a'\n", False, id="a print statement"),
    pytest.param("if x: print 'a', b\n", False, id="a print statement behind a colon"),
    pytest.param("print x % (a,\n  b)\n", False, id="a print statement over two lines"),
    pytest.param("exec code\n", False, id="an exec statement"),
    pytest.param("try:\n    f()\nexcept OSError, e:\n    print e\n", False, id="an old handler"),
    pytest.param("try:\n    f()\nexcept (A, B), e:\n    print e\n", False, id="an old handler of two errors"),
    pytest.param("raise ValueError, 'x'\n", False, id="an old raise"),
    pytest.param("y = `x` + `z`\n", False, id="backticks"),
    pytest.param("if a <> b:\n    pass\n", False, id="the old unequal"),
    pytest.param("x = 10L + 0xFFL\n", False, id="long numbers"),
    pytest.param("x = ur'a'\n", False, id="an old string"),
    pytest.param("x.cuda(async=True)\nprint x\n", False, id="async and a print statement"),
]


@pytest.mark.parametrize(("text", "only_async"), REPAIRED)
def test_a_repair_keeps_every_place(text: str, only_async: bool) -> None:
    script = parse(SourceFile("a.py", text, "utf-8", False))
    assert script.repair is not None
    assert (script.repair.failure is None) is only_async
    assert [len(line) for line in script.parsed_text.split("\n")] == [len(line) for line in text.split("\n")]
    spans = Spans(script.module, script.parsed_text)
    for name in script.names:
        start, end = spans.of(name.node)
        assert text[start:end] == name.id or name.id in ("prin", "exe")


REFUSED = [
    pytest.param("def f(x, async=False):\n    return async\n", id="async as a parameter"),
    pytest.param("async = 1\n", id="async as a variable"),
    pytest.param("print x if\n", id="half a line"),
    pytest.param("x = foo(1,\ny = 2\n", id="an open bracket"),
    pytest.param("x.cuda(async=True)\nasyn_ = 1\n", id="the name that would stand for async is taken"),
    pytest.param("print x\nx = foo(\n", id="something else is wrong, too"),
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_certain_is_refused(text: str) -> None:
    with pytest.raises(ParseFailure):
        parse(SourceFile("a.py", text, "utf-8", False))


VALID = [
    pytest.param("print ('a')\n", id="print with a blank"),
    pytest.param("x = 'print x'  # print y, async=True\n", id="old words in a string and a comment"),
    pytest.param("print\n", id="print alone"),
    pytest.param("print >>log, x\n", id="print and a shift, which Python 3 reads as a tuple"),
    pytest.param("async def f():\n    await g()\n", id="an async function"),
]


@pytest.mark.parametrize("text", VALID)
def test_what_is_valid_is_not_repaired(text: str) -> None:
    assert parse(SourceFile("a.py", text, "utf-8", False)).repair is None


def test_an_argument_has_the_name_that_is_in_the_file() -> None:
    script = parse(SourceFile("a.py", "x.cuda(async=True)\n", "utf-8", False))
    assert [given.keyword for given in script.calls[0].arguments] == ["async"]
