"""What a printed line says of its process."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Call, Name
from ddplint.semantics.speech import hands_text_on, holds_rank, is_whole_statement, names_process, precedes_failure


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("print(f'[{rank}] ready')", True, id="the rank in an f-string"),
        pytest.param("print('%d: ready' % args.local_rank)", True, id="the rank in a format"),
        pytest.param("print('ready', dist.get_rank())", True, id="the rank, asked for"),
        pytest.param("print('on', device)", True, id="the device"),
        pytest.param("print(socket.gethostname())", True, id="the host"),
        pytest.param("print('GPU {}'.format(x))", True, id="a label with something to tell"),
        pytest.param("print(f'[Rank: {part}] sorted')", True, id="a label in an f-string"),
        pytest.param("print('the rank of this matrix')", False, id="a label alone"),
        pytest.param("print('loss', mean_over_ranks(x))", False, id="a mean over all of them"),
        pytest.param("print('world size', world_size)", False, id="what is equal on all"),
        pytest.param("print('epoch', epoch)", False, id="the epoch"),
    ],
)
def test_a_line_names_its_process(code: str, expected: bool, tmp_path: Path) -> None:
    _, line = _line(code, tmp_path)
    assert names_process(line) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("import os\nme = int(os.environ['RANK'])\nprint(me)", True, id="the rank under another name"),
        pytest.param("me = 1\nprint(me)", False, id="a number"),
        pytest.param("import os\nseed = 7 + int(os.environ['RANK'])\nprint(seed)", True, id="a number made with it"),
        pytest.param(
            "import os\nmine = last.replace('.0', f'.{os.environ[\"RANK\"]}')\nprint(mine)",
            True,
            id="a name made with it",
        ),
        pytest.param(
            "import os\nloss = train(int(os.environ['RANK']))\nprint(loss)", False, id="a value that was made with it"
        ),
    ],
)
def test_a_value_is_the_rank(code: str, expected: bool, tmp_path: Path) -> None:
    project, line = _line(code, tmp_path)
    assert holds_rank(line, project.rank_values, project.resolver) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("if bad:\n    print('bad')\n    raise ValueError", True, id="before an exception"),
        pytest.param("if bad:\n    print('bad')\n    sys.exit(1)", True, id="before an exit"),
        pytest.param("print('ERROR: no data')", True, id="said to be an error"),
        pytest.param("print(f'download failed: {url}')", True, id="said to have failed"),
        pytest.param("if bad:\n    raise ValueError\nprint('good')", False, id="after an exception"),
        pytest.param("print('go')\nif bad:\n    raise ValueError", False, id="before an exception elsewhere"),
        pytest.param("print('test error: %.3f' % error)", False, id="an error that is measured"),
    ],
)
def test_a_line_precedes_a_failure(code: str, expected: bool, tmp_path: Path) -> None:
    _, line = _line(code, tmp_path)
    assert precedes_failure(line) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("def say(text):\n    print(text)", True, id="a parameter"),
        pytest.param("def say(*parts):\n    print(*parts, flush=True)", True, id="all parameters"),
        pytest.param("def say(text):\n    print('note:', text)", False, id="a parameter and words of its own"),
        pytest.param("text = 1\nprint(text)", False, id="a name of its own"),
        pytest.param("print()", False, id="nothing"),
    ],
)
def test_a_line_hands_words_on(code: str, expected: bool, tmp_path: Path) -> None:
    _, line = _line(code, tmp_path)
    assert hands_text_on(line) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("print(1)", True, id="a line"),
        pytest.param("x = 1; print(x)", True, id="behind a semicolon"),
        pytest.param("if x: print(x)", True, id="behind a colon"),
        pytest.param("y = print(x)", False, id="a value that is kept"),
        pytest.param("print(x) if x else None", False, id="a part of an expression"),
        pytest.param("for y in print(x): pass", False, id="the head of a loop"),
    ],
)
def test_a_call_is_a_statement(code: str, expected: bool, tmp_path: Path) -> None:
    _, line = _line(code, tmp_path)
    assert is_whole_statement(line) is expected


def _line(code: str, folder: Path) -> tuple[Project, Call]:
    path = folder / "main.py"
    path.write_text(code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, next(call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == "print")
