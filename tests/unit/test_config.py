from __future__ import annotations

import dataclasses
import errno
import pickle
from pathlib import Path

import pytest

from ddplint.config import Settings, load_settings, parse_version
from ddplint.errors import PathError, SettingError

EVERY_KEY = """\
select = ["DDP2", "hang"]
extend-select = ["print-every-rank"]
ignore = ["DDP301"]
exclude = ["third_party", "/gen/*.py"]
force-exclude = true
torch-version = "2.10.1+cu128"
launcher = "torchrun"
nodes = 2
gpus-per-node = 8
pedantic = true
fixable = ["ALL"]
unfixable = ["DDP601"]
fail-on = ["crash", "hang"]
baseline = "known.json"
plugins = ["house_rules"]

[per-file-ignores]
"tests/*" = ["DDP401", "DDP601"]
"""


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_every_setting_is_read(tmp_path: Path) -> None:
    write(tmp_path / "ddplint.toml", EVERY_KEY)

    settings = load_settings(tmp_path)

    assert settings == Settings(
        select=("DDP2", "hang"),
        extend_select=("print-every-rank",),
        ignore=("DDP301",),
        per_file_ignores=(("tests/*", ("DDP401", "DDP601")),),
        exclude=("third_party", "/gen/*.py"),
        force_exclude=True,
        torch_version=(2, 10),
        launcher="torchrun",
        nodes=2,
        gpus_per_node=8,
        pedantic=True,
        fixable=("ALL",),
        unfixable=("DDP601",),
        fail_on=("crash", "hang"),
        baseline="known.json",
        plugins=("house_rules",),
        root=tmp_path.resolve(),
    )
    unset = [
        field.name
        for field in dataclasses.fields(Settings)
        if getattr(settings, field.name) == getattr(Settings(), field.name)
    ]
    assert unset == []


def test_settings_can_be_hashed_and_sent_to_another_process() -> None:
    settings = Settings(select=("DDP2",), per_file_ignores=(("a", ("b",)),))

    assert pickle.loads(pickle.dumps(settings)) == settings
    assert hash(settings) == hash(settings.with_options())


@pytest.mark.parametrize(
    ("files", "start", "root", "select"),
    [
        pytest.param({}, "a/b", "a/b", (), id="no file at all: the root is where the search starts"),
        pytest.param({"a/ddplint.toml": "select = ['own']"}, "a/b", "a", ("own",), id="a file further up"),
        pytest.param(
            {"a/ddplint.toml": "select = ['far']", "a/b/ddplint.toml": "select = ['near']"},
            "a/b",
            "a/b",
            ("near",),
            id="the nearest wins and is not merged",
        ),
        pytest.param(
            {"a/ddplint.toml": "select = ['own']", "a/pyproject.toml": "[tool.ddplint]\nselect = ['shared']"},
            "a",
            "a",
            ("own",),
            id="in one folder ddplint.toml wins",
        ),
        pytest.param(
            {"a/pyproject.toml": "[tool.ddplint]\nselect = ['shared']"}, "a/b", "a", ("shared",), id="a pyproject.toml"
        ),
        pytest.param(
            {"pyproject.toml": "[tool.ddplint]\nselect = ['far']", "a/pyproject.toml": "[project]\nname = 'ddplint'"},
            "a",
            ".",
            ("far",),
            id="a pyproject.toml without our table is passed over",
        ),
        pytest.param({"ddplint.toml": "", "a/pyproject.toml": "broken ["}, "a", ".", (), id="also when it is broken"),
        pytest.param({"a/pyproject.toml": "[tool.ddplint]"}, "a/b", "a", (), id="an empty table sets the root"),
        pytest.param({"a/ddplint.toml": "", "a/b/ddplint.toml/x": ""}, "a/b", "a", (), id="a folder of that name"),
    ],
)
def test_the_nearest_file_counts(
    tmp_path: Path, files: dict[str, str], start: str, root: str, select: tuple[str, ...]
) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    for name, text in files.items():
        write(tmp_path / name, text)

    settings = load_settings(tmp_path / start)

    assert (settings.root, settings.select) == ((tmp_path / root).resolve(), select)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("selct = []", "unknown key 'selct' (did you mean 'select'?)", id="a typo"),
        pytest.param("torch_version = '2.4'", "unknown key 'torch_version' (did you mean 'torch-version'?)", id="_"),
        pytest.param("zzz = 1", "unknown key 'zzz'", id="nothing is near"),
        pytest.param("select = 'DDP2'", "select: must be a list of strings, not a string", id="one string"),
        pytest.param(
            "select = ['DDP2', 3]", "select: must be a list of strings, but holds a number", id="a mixed list"
        ),
        pytest.param(
            "per-file-ignores = []", "per-file-ignores: must be a table from patterns to lists", id="no table"
        ),
        pytest.param(
            "[per-file-ignores]\n'a' = 'DDP2'",
            "per-file-ignores: 'a' must be a list of strings, not a string",
            id="a pattern with one string",
        ),
        pytest.param("pedantic = 1", "pedantic: must be true or false, not a number", id="a number for a flag"),
        pytest.param("nodes = true", "nodes: must be a whole number from 1, not a boolean", id="a flag for a number"),
        pytest.param("nodes = 0", "nodes: must be a whole number from 1, not 0", id="no node"),
        pytest.param("gpus-per-node = 1.5", "gpus-per-node: must be a whole number from 1, not a number", id="a half"),
        pytest.param("torch-version = 2.10", 'torch-version: must be a string such as "2.4", not a number', id="2.10"),
        pytest.param(
            "torch-version = 'new'", "torch-version: must be a version such as \"2.4\", not 'new'", id="a word"
        ),
        pytest.param(
            "launcher = 'torchrn'",
            "launcher: must be one of torchrun, spawn, slurm, not 'torchrn' (did you mean 'torchrun'?)",
            id="a launcher's typo",
        ),
        pytest.param("launcher = 1", "launcher: must be one of torchrun, spawn, slurm, not a number", id="no launcher"),
        pytest.param("select = 1979-05-27", "select: must be a list of strings, not a date", id="a date"),
        pytest.param("select = [\n'a'\n'b']", "line 3", id="broken TOML"),
        pytest.param(b"# a\n# \xff\n", "not UTF-8 (at line 2)", id="no text"),
        pytest.param("tool.ddplint.select = []", "unknown key 'tool'", id="pyproject's table in our own file"),
    ],
)
def test_a_file_that_does_not_say_what_it_should(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = write(tmp_path / "ddplint.toml", text)

    with pytest.raises(SettingError) as refused:
        load_settings(tmp_path)

    assert str(refused.value).startswith(f"{path.resolve()}: ")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_our_part_of_pyproject_must_be_a_table(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool]\nddplint = true")

    with pytest.raises(SettingError, match=r"tool\.ddplint must be a table, not a boolean"):
        load_settings(tmp_path)


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    write(tmp_path / "ddplint.toml", "")
    monkeypatch.setattr(Path, "read_bytes", denied)

    with pytest.raises(SettingError, match=r"ddplint\.toml: cannot be read: Permission denied"):
        load_settings(tmp_path)


def test_an_explicit_file_is_the_only_one_read(tmp_path: Path) -> None:
    write(tmp_path / "ddplint.toml", "select = ['near']")
    explicit = write(tmp_path / "ci" / "strict.toml", "select = ['explicit']")

    settings = load_settings(tmp_path, explicit)

    assert (settings.select, settings.root) == (("explicit",), explicit.parent.resolve())


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        pytest.param("a.toml", None, PathError, "no such configuration file: ", id="missing"),
        pytest.param("pyproject.toml", "[project]", SettingError, "has no [tool.ddplint]", id="not about us"),
    ],
)
def test_an_explicit_file_must_be_there_and_be_ours(
    tmp_path: Path, name: str, text: str | None, error: type[Exception], message: str
) -> None:
    if text is not None:
        write(tmp_path / name, text)

    with pytest.raises(error) as refused:
        load_settings(tmp_path, tmp_path / name)

    assert message in str(refused.value)


def test_options_override_settings_and_what_was_not_given_does_not() -> None:
    settings = Settings(select=("a",), pedantic=True, nodes=2)

    assert settings.with_options(select=("b",), pedantic=False, nodes=None) == Settings(select=("b",), nodes=2)


@pytest.mark.parametrize("text", ["2", "2.x", "", "2.4 beta", "v2.4"])
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be a version"):
        parse_version(text)


@pytest.mark.parametrize(
    ("text", "version"), [("2.4", (2, 4)), ("2.10.0", (2, 10)), (" 1.13.1+cu117 ", (1, 13)), ("2.4.0.1", (2, 4))]
)
def test_versions(text: str, version: tuple[int, int]) -> None:
    assert parse_version(text) == version
