"""Whether a changed text is still Python, as far as it was before."""

from __future__ import annotations

import warnings

import libcst as cst

from ddplint.source import SourceFile


def breakage(before: SourceFile, after: str) -> str | None:
    """Say why the changed text is no longer read where the text before it was; None when all is well.

    This Python's compiler has to read it, which also knows what a grammar does not say, and LibCST.
    A text that was refused before is not held against the change: it may need another Python version.
    """
    for refusal_of in (_compiler_refusal, _parser_refusal):
        refusal = refusal_of(after)
        if refusal is not None and refusal_of(before.text) is None:
            return refusal
    return None


def _parser_refusal(text: str) -> str | None:
    try:
        cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        return f"line {error.raw_line}: {error.message}"
    return None


def _compiler_refusal(text: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<fixed>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"this Python cannot compile it: {type(error).__name__}"
    return None
