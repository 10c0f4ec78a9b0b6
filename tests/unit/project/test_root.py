"""Where a project begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project.root import project_root


@pytest.mark.parametrize(
    ("files", "file", "root"),
    [
        pytest.param(["pyproject.toml", "a/b/c.py"], "a/b/c.py", ".", id="the folder that a marker stands in"),
        pytest.param(["setup.py", "a/setup.py", "a/b.py"], "a/b.py", "a", id="the nearest of two markers"),
        pytest.param(["setup.py", "a/__init__.py", "a/b.py"], "a/b.py", ".", id="a marker outside a package"),
        pytest.param(["a/b.py"], "a/b.py", "a", id="without a marker: its own folder"),
        pytest.param(["a/b/__init__.py"], "a/b/__init__.py", "a", id="without a marker: around its package"),
        pytest.param(
            ["a/b/__init__.py", "a/b/c/__init__.py", "a/b/c/d.py"], "a/b/c/d.py", "a", id="around its outermost package"
        ),
    ],
)
def test_a_project_begins_at_its_marker_or_where_it_is_imported_from(
    files: list[str], file: str, root: str, tmp_path: Path
) -> None:
    for name in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert project_root(tmp_path / file) == (tmp_path / root).resolve()
