"""Patches, judged by the real ``git apply``."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ddplint.errors import SourceError
from ddplint.fixes import diff
from ddplint.source import SourceFile


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    return tmp_path


def apply_patch(folder: Path, patch: bytes) -> None:
    # The settings of whoever runs the tests must not decide.
    alone = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", "apply", "-"], cwd=folder, env=alone, input=patch, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


MANY = "".join(f"line {number}\n" for number in range(100))


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        pytest.param(b"a\nb\nc\n", "b", "x", id="one line"),
        pytest.param(MANY.encode(), "line 5", "other 5", id="several places"),
        pytest.param(b"a\nb", "b", "x", id="no final newline"),
        pytest.param(b"a\nb", "b", "b\n", id="a final newline comes"),
        pytest.param(b"a\nb\n", "b\n", "b", id="a final newline goes"),
        pytest.param(b"a\r\nb\r\nc\r\n", "b", "x\r\ny", id="Windows newlines"),
        pytest.param(b"a\r\nb\nc\r\n", "b\n", "b\r\n", id="mixed newlines"),
        pytest.param(b"a\r\nb", "b", "x", id="Windows newlines, none at the end"),
        pytest.param("# coding: latin-1\né = 1\nb\n".encode("latin-1"), "b", "é", id="latin-1"),
        pytest.param(b"\xef\xbb\xbfa\nb\n", "a", "x", id="a byte order mark"),
        pytest.param("a\x0c\u2028\x85\x1c\nb\n".encode(), "a", "x", id="what ends lines elsewhere"),
        pytest.param(b"\tif x:  \n\t\ty \n", "y ", "z\t", id="whitespace at the ends of lines"),
        pytest.param(b"", "", "x\n", id="an empty file gets a line"),
        pytest.param(b"x\n", "x\n", "", id="a file loses all"),
        pytest.param(b"--- a\n+++ b\n@@ -1 +1 @@\n", "+++ b", "--- x", id="lines that look like a patch"),
    ],
)
@pytest.mark.parametrize(
    "name",
    [
        "train.py",
        "sub/dir/my train.py",
        "ünïcode/日本.py",
        'quote".py',
        "back\\slash.py",
        "tab\there.py",
        "new\nline.py",
        "trailing .py ",
        "-dash.py",
    ],
)
def test_git_applies_the_patch(repository: Path, name: str, before: bytes, old: str, new: str) -> None:
    file = repository / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(before)
    source = SourceFile.from_bytes(before, name)
    text = source.text.replace(old, new, 20)
    apply_patch(repository, diff(source, text))
    assert file.read_bytes() == source.encode(text)


def test_git_applies_it_in_the_folder_of_the_run(repository: Path) -> None:
    folder = repository / "sub"
    folder.mkdir()
    (folder / "a.py").write_text("a\n")
    apply_patch(folder, diff(SourceFile("a.py", "a\n"), "b\n"))
    assert (folder / "a.py").read_text() == "b\n"


def test_git_applies_the_patches_of_several_files_at_once(repository: Path) -> None:
    sources = [SourceFile(name, text) for name, text in [("a b.py", "a"), ("ü.py", "a\r\n"), ("c.py", "a\n")]]
    for source in sources:
        (repository / source.path).write_bytes(source.encode(source.text))
    apply_patch(repository, b"".join(diff(source, source.text + "b\n") for source in sources))
    assert [(repository / source.path).read_bytes() for source in sources] == [b"ab\n", b"a\r\nb\n", b"a\nb\n"]


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the patch program")
def test_patch_applies_it_too(tmp_path: Path) -> None:
    file = tmp_path / "my train.py"
    file.write_bytes(b"a\nb\n")
    patch = diff(SourceFile("my train.py", "a\nb\n"), "a\nx\n")
    subprocess.run(["patch", "--quiet", "-p1"], cwd=tmp_path, input=patch, check=True)
    assert file.read_bytes() == b"a\nx\n"


def test_the_patch_of_no_change_is_empty() -> None:
    assert diff(SourceFile("a.py", "a\r\n"), "a\r\n") == b""


def test_an_absolute_path_is_named_below_the_root() -> None:
    assert diff(SourceFile("/tmp/a.py", "a\n"), "b\n").startswith(
        b"--- a/tmp/a.py\n+++ b/tmp/a.py\n@@ -1 +1 @@\n-a\n+b\n"
    )


def test_what_the_encoding_cannot_say_is_refused() -> None:
    with pytest.raises(SourceError, match="cannot be written in latin-1"):
        diff(SourceFile("a.py", "a\n", "latin-1"), "日\n")
