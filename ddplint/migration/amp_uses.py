"""One use of ``torch.cuda.amp`` or ``torch.cpu.amp``, written anew for ``torch.amp``.

``torch.amp`` takes the device first. Its autocast has other places for its arguments, and where it is given none it
takes dtype and cache from the autocast region around it, while the old one always took its own defaults.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ddplint.findings import Edit
from ddplint.migration.errors import CannotMigrate
from ddplint.project import Project
from ddplint.semantics import Call, Conditional, Constant, Expression, Name
from ddplint.semantics.reaching import scope_of
from ddplint.semantics.references import Reference, Use
from ddplint.semantics.structure import Binding, BindingKind, Region, Scope
from ddplint.semantics.torch_names import signature

if TYPE_CHECKING:
    from ddplint.edits import Editor

_FUNCTIONS = frozenset({"custom_fwd", "custom_bwd"})
_DTYPES = {"cuda": "float16", "cpu": "bfloat16"}
# Words without which no autocast region has another dtype than the default of its device.
_OTHER_DTYPES = {
    "cuda": (b"bfloat16", b"bf16", b"set_autocast"),
    "cpu": (b"float16", b"fp16", b"half", b"set_autocast"),
}


@dataclass(frozen=True)
class UseRewriter:
    """Writes uses of one project anew with an editor of their file."""

    project: Project
    editor: Editor

    def edits(self, reference: Reference, path: str) -> tuple[Edit, ...]:
        """Return the edits of one use; ``path`` is what its expression becomes, empty where it can stay.

        Raises CannotMigrate for a use whose new form is not known to do the same.
        """
        member = reference.name.rpartition(".")[2]
        if reference.use is Use.TYPE:
            return self._renamed(reference, path)
        if member not in _FUNCTIONS and self.project.is_told_apart(reference.expression.scope.script, member):
            raise CannotMigrate(f"some code tells {member} from its base class")
        if reference.use is Use.VALUE:
            return self._value(reference, path)
        if member in _FUNCTIONS:
            return self._function(reference, path)
        if reference.call is None:
            raise CannotMigrate(f"{member} is no decorator by itself")
        return (*self._renamed(reference, path), *self._call(reference, reference.call))

    def _renamed(self, reference: Reference, path: str) -> tuple[Edit, ...]:
        return self.editor.replace(reference.expression.node, path) if path else ()

    def _function(self, reference: Reference, path: str) -> tuple[Edit, ...]:
        device = f'device_type="{device_of(reference)}"'
        if reference.call is not None:
            node: Any = reference.call.node
            return (*self._renamed(reference, path), *self.editor.insert_argument(node, device))
        if path:
            return self.editor.replace(reference.expression.node, f"{path}({device})")
        return self.editor.insert_after(reference.expression.node, f"({device})")

    def _call(self, reference: Reference, call: Call) -> tuple[Edit, ...]:
        node: Any = call.node
        if reference.name.endswith("GradScaler"):
            return self.editor.insert_argument(node, f'"{device_of(reference)}"', first=True)
        first = ", ".join([f'"{device_of(reference)}"', *self._pins(reference, call)])
        positional = _positional(call)
        if not positional:
            return self.editor.insert_argument(node, first, first=True)
        keywords = signature(reference.name) or ()
        texts = [f"{keyword}=" for keyword, _ in zip(keywords, positional, strict=False)]
        texts[0] = f"{first}, {texts[0]}"
        return tuple(
            edit
            for text, argument in zip(texts, positional, strict=True)
            for edit in self.editor.insert_before(argument, text)
        )

    def _value(self, reference: Reference, path: str) -> tuple[Edit, ...]:
        calls = self._calls_of_value(reference)
        if any(_positional(call) for call in calls):
            raise CannotMigrate("it is called with positional arguments under another name")
        if reference.name == "torch.cuda.amp.GradScaler":
            return self._renamed(reference, path)
        if not reference.name.endswith("autocast"):
            raise CannotMigrate("its device would have to travel with it")
        text = path or self.editor.source_text(reference.expression.node)
        arguments = ", ".join([text, f'"{device_of(reference)}"', *self._pins(reference, None)])
        return (
            *self.editor.replace(reference.expression.node, f"functools.partial({arguments})"),
            *self.editor.add_import("import functools"),
        )

    def _calls_of_value(self, reference: Reference) -> list[Call]:
        """Return the calls of the variable that gets the value, which must be all that is done with it."""
        binding = _assigned(reference.expression)
        scope = scope_of(binding.name, binding.region.scope)
        script = reference.expression.scope.script
        if scope is None or self.project.is_read_elsewhere(scope, binding.name):
            raise CannotMigrate("other files may read it")
        by_callee = {id(call.callee): call for call in script.calls}
        calls = [by_callee.get(id(read)) for read in reads_of(scope, binding.name)]
        if None in calls:
            raise CannotMigrate("it is handed on")
        return [call for call in calls if call is not None]

    def _pins(self, reference: Reference, call: Call | None) -> Iterator[str]:
        """Yield the arguments that keep what the old autocast took when it was given nothing."""
        script, device = reference.expression.scope.script, device_of(reference)
        if self.project.mentions(script, _OTHER_DTYPES[device]) and not _gives(reference, call, "dtype"):
            yield f"dtype={self._torch(reference)}.{_DTYPES[device]}"
        if self.project.mentions(script, (b"cache_enabled",)) and not _gives(reference, call, "cache_enabled"):
            yield "cache_enabled=True"

    def _torch(self, reference: Reference) -> str:
        name = torch_name(reference.expression)
        if name is None:
            raise CannotMigrate("a dtype has to be written, and torch is not at hand")
        return name


def device_of(reference: Reference) -> str:
    """Return the device that the old module stands for."""
    return reference.name.split(".")[1]


def torch_name(at: Expression) -> str | None:
    """Return the name under which code can read torch itself, None when nothing certain binds it."""
    scope: Scope | None = at.scope
    while scope is not None:
        for name, bindings in scope.bindings.items():
            imported = all(binding.kind is BindingKind.IMPORT and binding.imported == "torch" for binding in bindings)
            if imported and scope_of(name, at.scope) is scope and _is_bound_before(at.region, bindings):
                return name
        scope = scope.parent
    return None


def reads_of(scope: Scope, name: str) -> list[Name]:
    """Return where a name of a scope is read."""
    return [read for read in scope.script.names if read.id == name and scope_of(name, read.region.scope) is scope]


def _is_bound_before(region: Region, bindings: Sequence[Binding]) -> bool:
    return any(region.within(binding.region) for binding in bindings)


def _positional(call: Call) -> list[Any]:
    """Return the nodes of the positional arguments of a call; raises CannotMigrate when a star hides them."""
    given = [argument for argument in call.arguments if argument.keyword is None and argument.star != "**"]
    if any(argument.star for argument in given):
        raise CannotMigrate("its arguments are hidden behind a star")
    return [argument.node for argument in given]


def _gives(reference: Reference, call: Call | None, keyword: str) -> bool:
    """Whether a call gives a parameter of the old autocast, or switches autocast off, so that it does not matter."""
    if call is None:
        return False
    if any(argument.star == "**" for argument in call.arguments):
        raise CannotMigrate("its arguments are hidden behind two stars")
    given = {argument.keyword: argument.value for argument in call.arguments if argument.keyword is not None}
    positional = [argument.value for argument in call.arguments if argument.keyword is None]
    given.update(zip(signature(reference.name) or (), positional, strict=False))
    enabled = given.get("enabled")
    return keyword in given or (isinstance(enabled, Constant) and enabled.value is False)


def _assigned(value: Expression) -> Binding:
    """Return the binding of the variable that gets a value, also through a conditional expression."""
    for bindings in value.scope.bindings.values():
        for binding in bindings:
            plain = binding.kind is BindingKind.ASSIGNMENT and not binding.path
            if plain and binding.value is not None and _hands_on(binding.value, value):
                return binding
    raise CannotMigrate("it is handed on")


def _hands_on(whole: Expression, value: Expression) -> bool:
    if isinstance(whole, Conditional):
        return _hands_on(whole.then, value) or _hands_on(whole.otherwise, value)
    return whole is value
