from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ddplint.config import Settings
from ddplint.errors import PathError, SettingError
from ddplint.source.discovery import Discovered, discover


def grow(root: Path, *names: str, **texts: str) -> None:
    """Make files; names that end in ``/`` are folders."""
    for name in names:
        path = root / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_text("")
    for name, text in texts.items():
        (root / name).write_text(text)


def found(root: Path, *names: str, settings: Settings | None = None) -> list[str]:
    result = discover([Path(name) for name in names or (".",)], settings or Settings(root=root), root)
    return [path.relative_to(root).as_posix() for path in result.files]


def test_folders_are_searched_for_python_files_in_order(tmp_path: Path) -> None:
    grow(tmp_path, "b.py", "a/z.py", "a/a.py", "a/deep/er/x.py", "notes.txt", "stub.pyi", "script", "a/.hidden/h.py")

    assert found(tmp_path) == ["a/.hidden/h.py", "a/a.py", "a/deep/er/x.py", "a/z.py", "b.py"]


@pytest.mark.parametrize(
    "name", [".git", ".venv", "node_modules", "__pycache__", "site-packages", "build", "dist", ".tox"]
)
def test_what_is_usually_not_ones_own_is_left_out_unless_named(tmp_path: Path, name: str) -> None:
    grow(tmp_path, "x.py", f"pkg/{name}/y.py", f"{name}.py")

    assert found(tmp_path) == sorted([f"{name}.py", "x.py"])
    assert found(tmp_path, f"pkg/{name}") == [f"pkg/{name}/y.py"]


@pytest.mark.parametrize("mark", ["pyvenv.cfg", "conda-meta/"])
def test_environments_of_any_name_are_left_out(tmp_path: Path, mark: str) -> None:
    grow(tmp_path, "env/x.py", f"torch-gpu/{mark}", "torch-gpu/lib/y.py")

    assert found(tmp_path) == ["env/x.py"]


def test_a_folder_that_is_named_like_a_file_is_a_folder(tmp_path: Path) -> None:
    grow(tmp_path, "x.py/y.py")

    assert found(tmp_path) == ["x.py/y.py"]


def test_named_files_are_taken_whatever_their_suffix_and_each_once(tmp_path: Path) -> None:
    grow(tmp_path, "train", "a.py", "build/b.py")

    assert found(tmp_path, "train", "build/b.py", ".", "a.py", "a.py", "./a.py") == ["a.py", "build/b.py", "train"]


def test_overlapping_folders_are_searched_once(tmp_path: Path) -> None:
    grow(tmp_path, "a/b/x.py", "a/y.py")

    assert found(tmp_path, "a/b", "a", "a/b/../b") == ["a/b/x.py", "a/y.py"]


def test_nothing_named_is_nothing_found(tmp_path: Path) -> None:
    assert discover([], Settings(), tmp_path) == Discovered((), ())


class TestExclude:
    def test_patterns_are_relative_to_the_settings(self, tmp_path: Path) -> None:
        grow(tmp_path, "a.py", "gen/a.py", "pkg/gen/b.py", "pkg/c_pb2.py", "pkg/d.py")
        settings = Settings(exclude=("/gen", "*_pb2.py"), root=tmp_path)

        assert found(tmp_path, settings=settings) == ["a.py", "pkg/d.py", "pkg/gen/b.py"]
        assert found(tmp_path, "pkg", settings=settings) == ["pkg/d.py", "pkg/gen/b.py"]

    def test_what_is_named_is_taken(self, tmp_path: Path) -> None:
        grow(tmp_path, "gen/a.py", "gen/sub/b.py")
        settings = Settings(exclude=("gen",), root=tmp_path)

        assert found(tmp_path, "gen/sub", "gen/a.py", settings=settings) == ["gen/a.py", "gen/sub/b.py"]

    def test_with_force_exclude_only_what_a_search_finds_is_taken(self, tmp_path: Path) -> None:
        grow(
            tmp_path, "a.py", "gen/a.py", "venv/b.py", "ignored.py", "sub/dropped/c.py", "sub/d.py", "my-env/pyvenv.cfg"
        )
        grow(tmp_path, "my-env/e.py", ".git/")
        (tmp_path / ".gitignore").write_text("ignored.py\ndropped/\n")
        settings = Settings(exclude=("gen",), force_exclude=True, root=tmp_path)
        every = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.py"))

        assert found(tmp_path, *every, settings=settings) == ["a.py", "sub/d.py"] == found(tmp_path, settings=settings)
        assert found(tmp_path, "gen", "venv", "sub/dropped", "sub", settings=settings) == ["sub/d.py"]

    def test_the_folders_above_the_settings_do_not_count(self, tmp_path: Path) -> None:
        root = tmp_path / "build" / "project"
        grow(root, "a.py")

        assert found(root, "a.py", settings=Settings(force_exclude=True, root=root)) == ["a.py"]

    def test_a_pattern_that_says_nothing_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(SettingError, match=r"exclude: .*'!'"):
            discover([], Settings(exclude=("a", "!")), tmp_path)


class TestGitIgnore:
    def test_each_folder_adds_to_what_its_parents_say(self, tmp_path: Path) -> None:
        grow(tmp_path, ".git/", "a.py", "data/b.py", "pkg/c.py", "pkg/keep.py", "pkg/sub/keep.py", "pkg/sub/c.py")
        (tmp_path / ".gitignore").write_text("data/\r\nkeep.py\n")
        (tmp_path / "pkg" / ".gitignore").write_text("!keep.py\n/c.py\n")

        assert found(tmp_path) == ["a.py", "pkg/keep.py", "pkg/sub/c.py", "pkg/sub/keep.py"]
        assert found(tmp_path, "pkg/sub") == ["pkg/sub/c.py", "pkg/sub/keep.py"]

    def test_an_ignored_folder_that_is_named_is_searched(self, tmp_path: Path) -> None:
        grow(tmp_path, ".git/", "out/a.py", "out/b.py", "out/sub/c.py")
        (tmp_path / ".gitignore").write_text("out/\nb.py\n")
        (tmp_path / "out" / ".gitignore").write_text("a.py\n")

        assert found(tmp_path, "out") == ["out/b.py", "out/sub/c.py"]

    def test_the_repositorys_own_exclude_file_counts_least(self, tmp_path: Path) -> None:
        grow(tmp_path, ".git/info/", "a.py", "b.py")
        (tmp_path / ".git" / "info" / "exclude").write_text("*.py\n")
        (tmp_path / ".gitignore").write_text("!b.py\n")

        assert found(tmp_path) == ["b.py"]

    def test_a_repository_in_a_repository_has_its_own_rules(self, tmp_path: Path) -> None:
        grow(tmp_path, ".git/", "x.py", "inner/x.py", "inner/.git")
        (tmp_path / ".gitignore").write_text("x.py\n")

        assert found(tmp_path) == ["inner/x.py"]

    def test_rules_count_without_a_repository_but_only_from_the_named_folder_on(self, tmp_path: Path) -> None:
        grow(tmp_path, "a.py", "sub/a.py", "sub/b.py")
        (tmp_path / ".gitignore").write_text("a.py\n")

        assert found(tmp_path) == ["sub/b.py"]
        assert found(tmp_path, "sub") == ["sub/a.py", "sub/b.py"]

    def test_a_list_of_what_is_kept(self, tmp_path: Path) -> None:
        grow(tmp_path, ".git/", "a.py", "pkg/keep.py", "pkg/drop.py")
        (tmp_path / ".gitignore").write_text("*\n!*/\n!keep.py\n")

        assert found(tmp_path) == ["pkg/keep.py"]

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param(b"!\n\\\nb.py\n", id="patterns that say nothing"),
            pytest.param(b"\xef\xbb\xbfb.py", id="a byte order mark"),
            pytest.param(b"\xff\x00[\nb.py  \r\n", id="bytes that are no text"),
        ],
    )
    def test_an_odd_file_of_patterns_still_counts(self, tmp_path: Path, text: bytes) -> None:
        grow(tmp_path, "a.py", "b.py")
        (tmp_path / ".gitignore").write_bytes(text)

        assert found(tmp_path) == ["a.py"]

    def test_a_folder_of_that_name_says_nothing(self, tmp_path: Path) -> None:
        grow(tmp_path, "a.py", ".gitignore/")

        assert found(tmp_path) == ["a.py"]


class TestLinks:
    def test_links_to_folders_are_not_followed(self, tmp_path: Path) -> None:
        grow(tmp_path, "pkg/a.py", "elsewhere/b.py")
        (tmp_path / "pkg" / "loop").symlink_to(tmp_path)
        (tmp_path / "pkg" / "link.py").symlink_to(tmp_path / "elsewhere")

        result = discover([Path("pkg")], Settings(), tmp_path)

        assert result == Discovered((tmp_path / "pkg" / "a.py",), ())

    def test_a_link_to_a_folder_that_is_named_is_searched(self, tmp_path: Path) -> None:
        grow(tmp_path, "real/a.py")
        (tmp_path / "link").symlink_to("real")

        assert found(tmp_path, "link") == ["link/a.py"]

    def test_a_file_and_a_link_to_it_are_one_file_known_by_its_own_name(self, tmp_path: Path) -> None:
        grow(tmp_path, "real.py")
        (tmp_path / "a_link.py").symlink_to("real.py")

        assert found(tmp_path) == ["real.py"]
        assert found(tmp_path, "a_link.py") == ["a_link.py"]

    def test_links_to_nothing_are_skipped_with_the_reason(self, tmp_path: Path) -> None:
        grow(tmp_path, "a.py")
        (tmp_path / "broken.py").symlink_to("missing.py")
        (tmp_path / "self.py").symlink_to("self.py")
        (tmp_path / ".#a.py").symlink_to("user@host.1234")

        result = discover([Path()], Settings(), tmp_path)

        reason = "a link to nothing"
        assert result.files == (tmp_path / "a.py",)
        assert result.skipped == ((tmp_path / "broken.py", reason), (tmp_path / "self.py", reason))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_what_is_no_file_is_skipped_with_the_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")

    assert discover([Path()], Settings(), tmp_path).skipped == ((tmp_path / "pipe.py", "not a regular file"),)


def test_a_folder_that_cannot_be_read_is_skipped_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(tmp_path, "a.py", "locked/b.py")
    scan = os.scandir

    def guarded(path: str) -> object:
        if os.path.basename(path) == "locked":
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", guarded)

    result = discover([Path()], Settings(), tmp_path)

    assert result.files == (tmp_path / "a.py",)
    assert result.skipped == ((tmp_path / "locked", "cannot be read: Permission denied"),)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        pytest.param("trian.py", "no such file or folder: trian.py (did you mean 'train.py'?)", id="a typo"),
        pytest.param("scr/model.py", "no such file or folder: scr/model.py (did you mean 'src'?)", id="in a folder"),
        pytest.param("src/zzz.py", "no such file or folder: src/zzz.py", id="nothing is near"),
        pytest.param("train.py/x", "no such file or folder: train.py/x", id="below a file"),
        pytest.param("loop", "loop: cannot be read: Too many levels of symbolic links", id="a link to itself"),
        pytest.param("n" * 300, "cannot be read: File name too long", id="a name too long"),
    ],
)
def test_a_path_that_does_not_exist(tmp_path: Path, path: str, message: str) -> None:
    grow(tmp_path, "train.py", "src/model.py")
    (tmp_path / "loop").symlink_to("loop")

    with pytest.raises(PathError) as refused:
        discover([Path(path)], Settings(), tmp_path)

    assert str(refused.value).endswith(message)


def test_a_tree_without_patterns_does_not_load_the_library_for_them(tmp_path: Path) -> None:
    grow(tmp_path, "a.py")
    code = (
        "import sys; from pathlib import Path; from ddplint.config import Settings; import ddplint.source as s;"
        "s.discover([Path()], Settings(), Path.cwd()); print([m for m in ('pathspec', 'libcst') if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
