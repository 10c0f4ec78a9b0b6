"""What a search finds is what git does not ignore."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ddplint.config import Settings
from ddplint.source import discover

NAMES = st.sampled_from(["a", "b", "ab", "a.b", "[a]", "a b"])
FOLDERS = st.lists(NAMES, max_size=3).map("/".join)
PIECES = st.sampled_from(["a", "b", "a*", "*", "?", "[ab]", "[!a]", "**", "a.py", "*.py", "b.py", "\\[a]", "a b"])
PATTERNS = st.builds(
    lambda negated, rooted, pieces, folder: "!" * negated + "/" * rooted + "/".join(pieces) + "/" * folder,
    st.booleans(),
    st.booleans(),
    st.lists(PIECES, min_size=1, max_size=3),
    st.booleans(),
)


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True).stdout


@settings(max_examples=60, deadline=None)
@given(
    files=st.sets(st.tuples(FOLDERS, NAMES), min_size=1, max_size=12),
    ignores=st.dictionaries(FOLDERS, st.lists(PATTERNS, min_size=1, max_size=4), min_size=1, max_size=3),
)
def test_a_search_finds_what_git_does_not_ignore(files: set[tuple[str, str]], ignores: dict[str, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        git(root, "init", "--quiet")
        for folder in {folder for folder, _ in files} | set(ignores):
            (root / folder).mkdir(parents=True, exist_ok=True)
        for folder, name in files:
            (root / folder / f"{name}.py").touch()
        for folder, patterns in ignores.items():
            (root / folder / ".gitignore").write_text("\n".join(patterns) + "\n")

        kept = git(root, "ls-files", "-z", "--others", "--exclude-standard").split("\0")
        found = discover([root], Settings(), root).files

        assert [path.relative_to(root).as_posix() for path in found] == sorted(
            name for name in kept if name.endswith(".py")
        )
