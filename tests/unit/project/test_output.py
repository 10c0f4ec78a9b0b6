"""Programs that put something else in the place of ``print``, or hide the bars of tqdm."""

from __future__ import annotations

import pytest

from ddplint.project.output import hides_bars, replaces_print


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(b"builtins.print = quiet", True, id="the builtin, assigned"),
        pytest.param(b"import builtins as __builtin__\n__builtin__.print = print", True, id="under its old name"),
        pytest.param(b"setattr(builtins, 'print', quiet)", True, id="set by name"),
        pytest.param(b'__builtins__["print"] = quiet', True, id="set as an item"),
        pytest.param(b"sys.stdout = open(os.devnull, 'w')", True, id="the output redirected"),
        pytest.param(b"builtin_print = builtins.print", False, id="the builtin, read"),
        pytest.param(b"if builtins.print == print: pass", False, id="the builtin, compared"),
        pytest.param(b"my_builtins.print = 1", False, id="something else of a similar name"),
        pytest.param(b"sys.stdout.write('x')", False, id="the output, used"),
    ],
)
def test_a_replaced_print_is_seen(text: bytes, expected: bool) -> None:
    assert replaces_print(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(b"sys.stderr = open(os.devnull, 'w')", True, id="the error stream redirected"),
        pytest.param(b"with contextlib.redirect_stderr(sink):", True, id="the error stream redirected by a context"),
        pytest.param(b"os.dup2(sink, sys.stderr.fileno())", True, id="the error stream redirected below Python"),
        pytest.param(b"tqdm.__init__ = partialmethod(tqdm.__init__, disable=True)", True, id="all bars switched off"),
        pytest.param(b"os.environ['TQDM_DISABLE'] = '1'", True, id="switched off by the environment"),
        pytest.param(b"print('late', file=sys.stderr)", False, id="the error stream, used"),
        pytest.param(b"if sys.stderr == stream: pass", False, id="the error stream, compared"),
    ],
)
def test_hidden_bars_are_seen(text: bytes, expected: bool) -> None:
    assert hides_bars(text) is expected
