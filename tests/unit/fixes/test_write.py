"""Files written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ddplint.errors import SourceError
from ddplint.fixes import write_atomically


def test_the_bytes_are_written_and_nothing_is_left_beside(tmp_path: Path) -> None:
    file = tmp_path / "träin it.py"
    file.write_bytes(b"old\r\n")
    write_atomically(file, b"\xef\xbb\xbfnew\r\n\xe9")
    assert file.read_bytes() == b"\xef\xbb\xbfnew\r\n\xe9"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664, 0o4755])
def test_the_mode_stays(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    file.chmod(mode)
    write_atomically(file, b"new")
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new", mode)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    os.chown(file, 1234, 4321)
    write_atomically(file, b"new")
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 4321)


def test_a_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "a.py"
    target.write_bytes(b"old")
    link = tmp_path / "link.py"
    link.symlink_to(Path("real") / "a.py")
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.py", "real"]


def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    file.chmod(0o444)
    with pytest.raises(SourceError, match="read-only"):
        write_atomically(file, b"new")
    assert file.read_bytes() == b"old"


def test_a_file_that_is_gone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be written: No such file"):
        write_atomically(tmp_path / "a.py", b"new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_alone(tmp_path: Path, failing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    monkeypatch.setattr(os, failing, refuse)
    with pytest.raises(SourceError, match="No space left on device"):
        write_atomically(file, b"new")
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]
