"""Random scripts in every layout that Python allows, for laws about edits."""

from __future__ import annotations

from hypothesis import strategies as st

SMALLS = st.sampled_from(
    [
        "a",
        "f(1)",
        "x = '''p\n  q\n'''",
        "y = [\n1,\n    2, # inside\n]",
        "'s'",
        "z = 1 + \\\n   3",
        "g(f'''{a}\n  {b}''', 'é')",
        "é = 'ü日'",
        "assert (\n\n  # inside\n  a)",
        "w = 'o\\\np'",
    ]
)
TAILS = st.sampled_from(["", "  # tail", ";", " ; # tail"])
ABOVE = st.sampled_from(["", "", "\n", "# above\n", "\n# above\n# more\n", "# above\n\n"])
HEADERS = st.sampled_from(
    [
        "if a:",
        "for e in (1,\n 2):",
        "while (a and\n       b):",
        "with a as c:",
        "def t(p, q=1):",
        "async def t():",
        "class A:",
        "@d\n# between\n@e(1)\ndef t():",
        "@d\nclass A(B):",
        "try:",
        "match a:",
    ]
)
BRANCHES = {
    "if": ["else:", "elif b:"],
    "for": ["else:"],
    "while": ["else:"],
    "try": ["except E:", "finally:"],
}
UNITS = st.sampled_from([" ", "  ", "    ", "\t"])
ROWS = st.tuples(st.lists(SMALLS, min_size=1, max_size=3).map("; ".join), TAILS).map("".join)


@st.composite
def blocks(draw: st.DrawFn, depth: int, indentation: str) -> str:
    """Lines of statements, each starting with the indentation."""
    return "".join(draw(lines(depth, indentation)) for _ in range(draw(st.integers(1, 3))))


@st.composite
def lines(draw: st.DrawFn, depth: int, indentation: str) -> str:
    """One line of small statements or one compound statement, with what stands above it."""
    above = draw(ABOVE).replace("# ", f"{indentation}# ")
    if depth == 0 or draw(st.booleans()):
        return f"{above}{indentation}{draw(ROWS)}\n"
    header = draw(HEADERS).replace("\n@", f"\n{indentation}@").replace("\ndef", f"\n{indentation}def")
    header = header.replace("\nclass", f"\n{indentation}class")
    if header.startswith("match"):
        inside = indentation + draw(UNITS)
        return f"{above}{indentation}{header}\n{inside}case 1:{draw(bodies(depth, inside))}"
    text = f"{above}{indentation}{header}{draw(bodies(depth, indentation))}"
    branches = BRANCHES.get(header.split()[0].strip(":"), [])
    if branches and (header == "try:" or draw(st.booleans())):
        text += f"{indentation}{draw(st.sampled_from(branches))}{draw(bodies(depth, indentation))}"
    return text


@st.composite
def bodies(draw: st.DrawFn, depth: int, indentation: str) -> str:
    """What follows the colon of a header: the rest of its line, or an indented block."""
    if draw(st.booleans()):
        return f" {draw(ROWS)}\n"
    inside = indentation + draw(UNITS)
    end = draw(st.sampled_from(["", f"{inside}# end\n", "\n"]))
    tail = draw(st.sampled_from(["", "  # tail"]))
    return f"{tail}\n{draw(blocks(depth - 1, inside))}{end}"


@st.composite
def scripts(draw: st.DrawFn) -> str:
    """A whole file, with either newline, with or without one at its end."""
    text = draw(st.sampled_from(["", "#!/bin/python\n", "# é\n\n"])) + draw(blocks(2, ""))
    if draw(st.booleans()):
        text = text.rstrip("\n")
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


TRIVIA = st.sampled_from(["", "", " ", "\n", "\n    ", "\n\t", " \\\n ", "  # {}\n  ", "\n  # {}\n  "])
POSITIONAL = st.sampled_from(["a", "(b)", "[\n1]", "'''s\n'''", "lambda: 0", "(x for x in y)", "'é日'", "*s"])
KEYWORDS = st.sampled_from(["k1=1", "k2=(a,\n b)", "k3 = {}", "k4=g(1)"])


@st.composite
def calls(draw: st.DrawFn) -> str:
    """A call of ``f`` with comments, newlines and backslashes anywhere between its arguments."""
    items = draw(st.lists(POSITIONAL, max_size=3)) + draw(st.lists(KEYWORDS, max_size=2, unique=True))
    items += draw(st.sampled_from([[], ["**d"], ["**d", "**(e)"]]))
    pieces = [draw(TRIVIA)]
    for number, item in enumerate(items):
        comma = "," if number < len(items) - 1 or draw(st.booleans()) else ""
        pieces += [item, draw(TRIVIA), comma, draw(TRIVIA) if comma else ""]
    # Every comment is told from the others.
    inside = "".join(piece.replace("# {}", f"# {number}") for number, piece in enumerate(pieces))
    before = draw(st.sampled_from(["", "x = ", "if a: ", "'é😀'; ", "@"]))
    after = "\ndef g(): pass\n" if before == "@" else draw(st.sampled_from(["", "\n", "; b\n", "  # after\n"]))
    return f"{before}f({inside}){after}".replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
