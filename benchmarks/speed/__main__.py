"""Measure ddplint's speed and print it as ratios of what was measured in the same run.

    python -m benchmarks.speed                                        in one process, against libcst.parse_module
    python -m benchmarks.speed --torchfix /path/to/bin/torchfix       whole processes, against torchfix
    python -m benchmarks.speed --torchfix ... --corpus FOLDER         also on a folder of scripts
    python -m benchmarks.speed --project FOLDER                       a whole project, and once more from the cache

Machines are noisy: quote the ratios. CPU seconds are those of the process and its children.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "fixtures" / "speed" / "clean_training.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchfix", type=Path, help="torchfix of its own environment")
    parser.add_argument("--corpus", type=Path, help="a folder of about 200 scripts")
    parser.add_argument("--project", type=Path, help="the folder of a project of some hundred files")
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    print(f"clean script of {len(SCRIPT.read_text().splitlines())} lines, {options.runs} runs, medians")
    against_the_parse(options.runs)
    without_trigger()
    if options.torchfix:
        with tempfile.TemporaryDirectory() as folder:
            against_torchfix("one script", options.torchfix, Path(shutil.copy(SCRIPT, folder)), options.runs)
    if options.torchfix and options.corpus:
        against_torchfix("corpus", options.torchfix, options.corpus, 1)
    if options.project:
        project(options.project)
        from_the_cache(options.project)


def against_the_parse(runs: int) -> None:
    """Lint the clean script, alone in a folder, in this process, and parse it, in turns."""
    import libcst

    from ddplint.config import Settings
    from ddplint.engine.run import Linter, lint_texts
    from ddplint.source import SourceFile

    parse, whole = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copy(SCRIPT, folder))
        source = SourceFile.from_bytes(path.read_bytes(), str(path))
        # A linter parses a text only once.
        for linter in [Linter(Settings()) for _ in range(runs)]:
            parse.append(_seconds(lambda: libcst.parse_module(source.text)))
            whole.append(_seconds(partial(lint_texts, linter, {source.path: source}, jobs=1)))
    ratio = statistics.median(w / p for w, p in zip(whole, parse, strict=True))
    print(f"lint / libcst.parse_module: {ratio:.2f}  ({_ms(whole)} / {_ms(parse)} ms)")


def without_trigger() -> None:
    """Lint a tree in which no rule's word occurs, and look whether libcst was imported."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "plain.py").write_text("x = 1\n")
        command = [sys.executable, "-X", "importtime", "-m", "ddplint", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    print(f"a tree without a trigger word imports libcst: {'yes' if ' libcst' in done.stderr else 'no'}")


def against_torchfix(what: str, torchfix: Path, path: Path, runs: int) -> None:
    """Run both as whole processes on the same path, in turns, and compare their CPU time."""
    ours: list[float] = []
    theirs: list[float] = []
    _cpu([sys.executable, "-m", "ddplint", "--no-cache", str(SCRIPT)])
    for _ in range(runs):
        ours.append(_cpu([sys.executable, "-m", "ddplint", "--no-cache", str(path)]))
        theirs.append(_cpu([str(torchfix), "--select", "ALL", str(path)]))
    ratio = statistics.median(o / t for o, t in zip(ours, theirs, strict=True))
    seconds = f"{statistics.median(ours):.2f} / {statistics.median(theirs):.2f} s"
    print(f"{what}, CPU of the whole process, ddplint / torchfix: {ratio:.3f}  ({seconds})")


def project(folder: Path) -> None:
    """Lint a project in this process and compare with parsing those of its files that pass the gate."""
    import libcst

    from ddplint.config import Settings
    from ddplint.engine.run import Linter
    from ddplint.errors import SourceError
    from ddplint.source import SourceFile, discover, refusal

    linter = Linter(Settings(root=folder))
    files = discover((folder,), linter.settings, folder).files
    started = time.process_time()
    assignments = [linter.assign(path, str(path), path.read_bytes()) for path in files]
    awake = [assignment for assignment in assignments if assignment.awake and refusal(assignment.data) is None]
    for assignment in awake:
        linter.lint(assignment)
    whole = time.process_time() - started
    started = time.process_time()
    for assignment in awake:
        with suppress(SourceError, libcst.ParserSyntaxError):
            libcst.parse_module(SourceFile.from_bytes(assignment.data, assignment.shown).text)
    parse = time.process_time() - started
    print(f"project of {len(files)} files, lint / libcst.parse_module of the {len(awake)} that pass the gate: ", end="")
    print(f"{whole / parse:.2f}  ({whole:.1f} / {parse:.1f} s)")


def from_the_cache(folder: Path) -> None:
    """Lint a copy of a project twice, and compare the second run with reading and hashing its files."""
    hashing = "import hashlib, pathlib, sys\nfor path in pathlib.Path(sys.argv[1]).rglob('*.py'):\n"
    hashing += "    hashlib.blake2b(path.read_bytes()).digest()"
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(shutil.copytree(folder, Path(temporary, "project"), ignore=shutil.ignore_patterns(".git")))
        Path(copy, "ddplint.toml").touch()
        command = [sys.executable, "-m", "ddplint", str(copy)]
        cold = _cpu(command)
        warm = statistics.median(_cpu(command) for _ in range(5))
        start = statistics.median(_cpu([sys.executable, "-m", "ddplint", "rules"]) for _ in range(5))
        read = statistics.median(_cpu([sys.executable, "-c", hashing, str(copy)]) for _ in range(5))
    print(
        f"a second run / the first: {warm / cold:.3f}  ({warm:.2f} / {cold:.2f} s); of it, {start:.2f} s for ", end=""
    )
    print(f"loading the rules; a Python process that only reads and hashes the files: {read:.2f} s")


def _seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _ms(seconds: Sequence[float]) -> str:
    return f"{1000 * statistics.median(seconds):.0f}"


def _cpu(command: Sequence[str]) -> float:
    """Return the CPU seconds of a command. Both tools run from compiled modules, as they do once installed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment.setdefault("PYTHONPYCACHEPREFIX", str(Path(tempfile.gettempdir(), "ddplint-benchmark")))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
