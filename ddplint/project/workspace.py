"""The projects that a run touches, each made once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ddplint.project.project import DISTRIBUTION_WORDS, Project
from ddplint.project.root import project_root
from ddplint.project.scripts import Parsed
from ddplint.project.torch_range import TorchRange, Version
from ddplint.semantics import Script


class Workspace:
    """Finds the project of a file and keeps it for the next one.

    ``torch`` is the version that the code is for, where the settings name one.
    """

    def __init__(self, torch: Version | None = None) -> None:
        self._torch = None if torch is None else TorchRange(torch, torch)
        self._contents: Mapping[Path, bytes] = {}
        self._parsed: Parsed = {}
        self._projects: dict[Path, Project] = {}
        self._by_folder: dict[Path, Project] = {}

    def holding(self, contents: Mapping[Path, bytes]) -> Workspace:
        """Return a workspace in which files hold other bytes than on disk; the others are not parsed anew."""
        other = Workspace()
        other._torch = self._torch
        other._contents = {path.resolve(): data for path, data in contents.items()}
        other._parsed = self._parsed
        return other

    def project(self, path: Path) -> Project:
        """Return the project to which a file belongs."""
        folder = path.resolve().parent
        if folder not in self._by_folder:
            root = project_root(path)
            if root not in self._projects:
                self._projects[root] = Project(root, self._torch, self._contents, self._parsed)
            self._by_folder[folder] = self._projects[root]
        return self._by_folder[folder]

    def project_of(self, script: Script, path: Path) -> Project:
        """Return the project of a script that was parsed from the file at ``path``."""
        project = self.project(path)
        project.add(script, path.resolve())
        return project

    def is_distributed(self, path: Path) -> bool:
        """Whether the program of a file trains with several processes, told from bytes alone."""
        project = self.project(path)
        resolved = path.resolve()
        return any(
            word in project.files.content(file) for file in project.program(resolved) for word in DISTRIBUTION_WORDS
        )
