"""Imports added and taken away."""

from __future__ import annotations

import libcst as cst
import pytest

from ddplint.edits import CannotEdit
from ddplint.errors import Defect
from tests.unit.edits.workbench import Workbench

TORCH = "import torch"


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        pytest.param("import os\nx = 1\n", TORCH, "import os\nimport torch\nx = 1\n", id="after the last import"),
        pytest.param("import os  # c", TORCH, "import os  # c\nimport torch", id="no final newline"),
        pytest.param("import os\r\nx\r\n", TORCH, "import os\r\nimport torch\r\nx\r\n", id="Windows newlines"),
        pytest.param(
            "import os; import re\nx\n", TORCH, "import os; import re\nimport torch\nx\n", id="a row of imports"
        ),
        pytest.param(
            "from a import (\n  b,\n)\nx\n", TORCH, "from a import (\n  b,\n)\nimport torch\nx\n", id="brackets"
        ),
        pytest.param("'''d'''\nx\n", TORCH, "'''d'''\n\nimport torch\nx\n", id="after a docstring"),
        pytest.param(
            "'''d\n'''\nfrom __future__ import annotations\n\nx\n",
            TORCH,
            "'''d\n'''\nfrom __future__ import annotations\n\nimport torch\n\nx\n",
            id="after the future",
        ),
        pytest.param("#!/bin/x\n# c\n\nx\n", TORCH, "#!/bin/x\n# c\n\nimport torch\n\nx\n", id="no import at all"),
        pytest.param("@d\ndef f(): pass\n", TORCH, "import torch\n\n@d\ndef f(): pass\n", id="above decorators"),
        pytest.param("", TORCH, "import torch\n", id="an empty file"),
        pytest.param("# c", TORCH, "# c\nimport torch", id="a file of comments without a final newline"),
        pytest.param("import a\nif x:\n  import b\n", "import re", "import a\nimport re\nif x:\n  import b\n", id="if"),
        pytest.param("import a\nx\nimport b\n", TORCH, "import a\nimport torch\nx\nimport b\n", id="a later import"),
        pytest.param(
            "import os\nos.environ['A'] = '1'\nimport torch.nn as nn\nx\n",
            "from torch import amp",
            "import os\nos.environ['A'] = '1'\nimport torch.nn as nn\nfrom torch import amp\nx\n",
            id="a package that is imported after the environment is set stays after it",
        ),
        pytest.param("import a\nimport torch\nimport b\n", "from torch import amp", None, id="last of all imports"),
        pytest.param("from a import *\n", TORCH, "from a import *\nimport torch\n", id="a star import"),
        pytest.param("from . import a\n", TORCH, "from . import a\nimport torch\n", id="a relative import"),
        pytest.param("'é😀'\nimport os\n", TORCH, "'é😀'\nimport os\nimport torch\n", id="letters of several bytes"),
        pytest.param("import torch.nn\n", "import torch.cuda", "import torch.nn\nimport torch.cuda\n", id="submodule"),
        pytest.param(
            "import a\ndef f():\n  amp = 1\n", "import amp", "import a\nimport amp\ndef f():\n  amp = 1\n", id="f"
        ),
    ],
)
def test_an_import_goes_beside_the_others(before: str, line: str, after: str | None) -> None:
    bench = Workbench(before)
    assert bench.after(bench.editor.add_import(line)) == (before + line + "\n" if after is None else after)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("import torch\n", "import torch", id="the same import"),
        pytest.param("import torch.nn\n", "import torch", id="a submodule brings its package"),
        pytest.param("import torch.amp.x\n", "import torch.amp", id="a submodule of a submodule"),
        pytest.param("import os, torch\n", "import torch", id="one of several"),
        pytest.param("x\nimport torch; y\n", "import torch", id="in a row with other statements"),
        pytest.param("from torch import nn, amp\n", "from torch import amp", id="one of several names"),
        pytest.param("import torch.amp as amp\n", "from torch import amp", id="the same in another form"),
        pytest.param("from torch import amp\n", "import torch.amp as amp", id="the same in the other form"),
        pytest.param("from torch import amp as a\n", "from torch import amp as a", id="under a name of its own"),
    ],
)
def test_an_import_that_the_file_has_is_no_edit(text: str, line: str) -> None:
    assert Workbench(text).editor.add_import(line) == ()


def test_the_same_import_is_the_same_edit_for_every_fix() -> None:
    bench, again = Workbench("import os\n"), Workbench("import os\n")
    assert bench.editor.add_import(TORCH) == bench.editor.add_import(TORCH) == again.editor.add_import(TORCH)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("from apex import amp\n", id="another import"),
        pytest.param("if x:\n  from apex import amp\n", id="another import in a block"),
        pytest.param("import apex.amp as amp\n", id="another import with as"),
        pytest.param("amp = 1\n", id="a value"),
        pytest.param("(a, [amp]), *b = x\n", id="one of several values"),
        pytest.param("amp: int = 1\n", id="an annotated value"),
        pytest.param("def amp(): pass\n", id="a function"),
        pytest.param("class amp: pass\n", id="a class"),
        pytest.param("for amp in x: pass\n", id="a loop's variable"),
        pytest.param("with a as amp: pass\n", id="a context"),
        pytest.param("try: a\nexcept E as amp: pass\n", id="an exception"),
        pytest.param("if (amp := 1): pass\n", id="a walrus"),
        pytest.param("try:\n  from torch import amp\nexcept E:\n  amp = None\n", id="an import that may fail"),
    ],
)
def test_a_name_that_stands_for_something_else_is_refused(text: str) -> None:
    with pytest.raises(CannotEdit, match="'amp' stands for something else"):
        Workbench(text).editor.add_import("from torch import amp")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("try:\n  import torch\nexcept ImportError: pass\n", id="in a try"),
        pytest.param("def f():\n  from torch import nn\n", id="in a function"),
    ],
)
def test_a_package_imported_under_a_condition_is_refused(text: str) -> None:
    with pytest.raises(CannotEdit, match="under a condition"):
        Workbench(text).editor.add_import("from torch import amp")


def test_a_standard_module_imported_in_a_function_is_added() -> None:
    bench = Workbench("def f():\n  import os\n")
    assert bench.after(bench.editor.add_import("import os")) == "import os\n\ndef f():\n  import os\n"


@pytest.mark.parametrize("line", ["import a, b", "x = 1", "from a import *", "if a: b"])
def test_a_line_that_imports_no_single_name_is_a_defect(line: str) -> None:
    with pytest.raises(Defect, match="does not import one name"):
        Workbench("").editor.add_import(line)


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        pytest.param("from m import a, b, c\n", "b", "from m import a, c\n", id="one of several"),
        pytest.param("from m import a as x, b\n", "a", "from m import b\n", id="the first, with as"),
        pytest.param("from m import a, b  # c\n", "b", "from m import a  # c\n", id="the last before a comment"),
        pytest.param("from m import (a, b,)\n", "b", "from m import (a,)\n", id="in brackets"),
        pytest.param(
            "from m import (\n  a,\n  b,  # B\n)\n", "b", "from m import (\n  a,\n)\n", id="a line of its own"
        ),
        pytest.param("from m import a, \\\n  b\n", "b", "from m import a\n", id="the last after a backslash"),
        pytest.param("from m import a, \\\n  b\n", "a", "from m import b\n", id="the first before a backslash"),
        pytest.param(
            "from m import a, \\\n  b, \\\n  c\n", "b", "from m import a, \\\n  c\n", id="between backslashes"
        ),
        pytest.param("from m import a\nx\n", "a", "x\n", id="the only one"),
        pytest.param(
            "try: from m import a\nexcept E: pass\n", "a", "try: pass\nexcept E: pass\n", id="the only one of a try"
        ),
        pytest.param(
            "from m import (\r\n\ta,\r\n\tb\r\n)\r\n", "a", "from m import (\r\n\tb\r\n)\r\n", id="tabs, CRLF"
        ),
        pytest.param("import a, b\n", "a", "import b\n", id="a plain import"),
        pytest.param("'é'; from m import a, b\n", "b", "'é'; from m import a\n", id="letters of several bytes"),
    ],
)
def test_a_name_is_taken_out_of_an_import(before: str, name: str, after: str) -> None:
    bench = Workbench(before)
    statement = bench.first_import()
    aliases = () if isinstance(statement.names, cst.ImportStar) else statement.names
    alias = next(alias for alias in aliases if alias.name.value == name)
    assert bench.after(bench.editor.remove_from_import(statement, alias)) == after


def test_a_name_of_another_import_is_not_taken() -> None:
    bench = Workbench("from m import *\n")
    with pytest.raises(CannotEdit, match="another import"):
        bench.editor.remove_from_import(bench.first_import(), cst.ImportAlias(cst.Name("a")))
