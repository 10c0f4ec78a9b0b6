"""What the top level of a module binds: imports and what they stand for, and every other name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst


@dataclass(frozen=True, slots=True)
class Imported:
    """One name that an import binds, the dotted path that it stands for, and the module that is loaded for it."""

    name: str
    target: str
    module: str

    @property
    def root(self) -> str:
        """The package that is imported from."""
        return self.module.partition(".")[0]

    def provides(self, wanted: Imported) -> bool:
        """Whether code that needs the other import runs with this one."""
        same_name = (self.name, self.target) == (wanted.name, wanted.target)
        return same_name and any(f"{path}.".startswith(f"{wanted.module}.") for path in (self.module, self.target))


def imports_of(statement: cst.CSTNode) -> Iterator[Imported]:
    """What an import statement binds; nothing for ``*`` and for other statements."""
    if isinstance(statement, cst.Import):
        for alias in statement.names:
            path = dotted(alias.name)
            root, _, _ = path.partition(".")
            yield Imported(_alias(alias), path, path) if alias.asname else Imported(root, root, path)
    elif isinstance(statement, cst.ImportFrom) and not isinstance(statement.names, cst.ImportStar):
        module = "." * len(statement.relative) + (dotted(statement.module) if statement.module else "")
        for alias in statement.names:
            path = dotted(alias.name)
            yield Imported(_alias(alias) or path, f"{module}.{path}", module)


def bound_names(module: cst.Module) -> Iterator[tuple[str, str]]:
    """Each name bound outside functions and classes, with what it stands for: a dotted path, or nothing known."""
    waiting: list[cst.CSTNode] = [module]
    while waiting:
        node = waiting.pop()
        yield from ((imported.name, imported.target) for imported in imports_of(node))
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            yield node.name.value, ""
        elif not isinstance(node, cst.Lambda | cst.Import | cst.ImportFrom):
            yield from ((name, "") for name in _names_in(_target_of(node)))
            waiting.extend(node.children)


def dotted(node: cst.CSTNode) -> str:
    """``a.b.c`` for the nodes that stand for it in an import."""
    if isinstance(node, cst.Attribute):
        return f"{dotted(node.value)}.{node.attr.value}"
    assert isinstance(node, cst.Name)
    return node.value


def _alias(alias: cst.ImportAlias) -> str:
    return dotted(alias.asname.name) if alias.asname else ""


def _target_of(node: cst.CSTNode) -> cst.CSTNode | None:
    if isinstance(node, cst.AssignTarget | cst.AnnAssign | cst.AugAssign | cst.For | cst.NamedExpr):
        return node.target
    return node.name if isinstance(node, cst.AsName) else None


def _names_in(target: cst.CSTNode | None) -> Iterator[str]:
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _names_in(element.value)
