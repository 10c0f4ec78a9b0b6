"""Whether a program is for one machine or for several, as far as its code says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Constant, Expression, Operation, Script
from ddplint.semantics.environment import WriteForm
from ddplint.semantics.expressions import last_name
from ddplint.semantics.texts import Texts

if TYPE_CHECKING:
    from ddplint.project.project import Project

_INIT = "torch.distributed.init_process_group"
_LOOPBACK = frozenset[object]({"localhost", "127.0.0.1"})
_HERE = re.compile(r"tcp://(?:localhost|127\.0\.0\.1)\b|file://")
# How instructions in a file start it on one machine.
_ON_ONE = (b"--standalone", b"--nnodes=1", b"--nnodes 1")
_NODES = re.compile(r"-*(?:n_?nodes|node_?rank|nr|(?:num_?)?machines|machine_?rank|nnodes|master_?(?:addr(?:ess)?|ip))")
# In programs about graphs these count something else.
_PERHAPS_NODES = re.compile(r"-*(?:num_?)?nodes")
_COUNTS = re.compile(r"(?:num_?|n_?|n)?(?:nodes|machines)", re.IGNORECASE)
_MACHINES = re.compile(r"nodes?(?:_|$)|machine|slurm|torchrun|elastic|(?:^|_)nr$", re.IGNORECASE)
_GRAPHS = (b"dgl", b"torch_geometric", b"networkx")
_VARIABLES = frozenset({"NODE_RANK", "GROUP_RANK", "NNODES", "NUM_NODES", "SLURM_NNODES", "SLURM_NODEID"})
_SPAWNERS = (b"spawn(", b"start_processes(", b"Process(")
_WORDS = (_INIT.rpartition(".")[2].encode(), b"MASTER_ADDR", b"add_argument", b"NODE", *_SPAWNERS)
_SEARCHED = 40


class Machines:
    """Answers on how many machines the processes of a program are."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._texts = Texts(project.resolver)
        self._known: dict[tuple[int, str], bool] = {}

    def is_one(self, script: Script) -> bool:
        """Whether the processes meet on the machine itself, or are started by a parent that knows of no other."""
        key = (id(script), "one")
        if key not in self._known:
            self._known[key] = self._project.mentions(script, _ON_ONE) or any(map(self._meets_here, self._read(script)))
            self._known[key] |= self._is_spawned(script) and not self.are_several(script)
        return self._known[key]

    def are_several(self, script: Script) -> bool:
        """Whether the program takes the number of its machines, which of them this is, or the address of the first."""
        key = (id(script), "several")
        if key not in self._known:
            is_graph = self._project.mentions(script, _GRAPHS)
            self._known[key] = any(self._counts(one, is_graph) for one in self._read(script))
        return self._known[key]

    def counts(self, number: Expression) -> bool:
        """Whether a number is a number of machines times another one: ``args.nodes * gpus``."""
        products = [one for one in self._project.origins(number) if isinstance(one, Operation) and one.operator == "*"]
        return any(_is_number_of_machines(factor) for product in products for factor in product.operands)

    def are_asked_for(self, at: Expression) -> bool:
        """Whether a test on the way to an expression asks for the machines, or for the launcher that knows them."""
        tests = (region.test for region in at.region.chain() if region.test is not None)
        parts = [part for test in tests for part in test.walk()]
        reads = {id(read.at) for read in self._project.environment_reads(at.scope.script)}
        return any(
            id(part) in reads
            or bool(_MACHINES.search(last_name(part)))
            or (isinstance(part, Constant) and isinstance(part.value, str) and part.value.isupper())
            for part in parts
        )

    def _read(self, script: Script) -> Iterator[Script]:
        """Yield the scripts of the program that may tell."""
        searched = 0
        for path in self._project.program_of(script):
            if searched < _SEARCHED and any(word in self._project.files.content(path) for word in _WORDS):
                searched += 1
                other = self._project.script(path)
                yield from () if other is None else (other,)

    def _meets_here(self, script: Script) -> bool:
        writes = self._project.environment_writes(script, "MASTER_ADDR")
        given = [self._project.constants(write.value) for write in writes if write.form is not WriteForm.DEFAULT]
        if any(addresses is not None and addresses <= _LOOPBACK for addresses in given):
            return True
        methods = (self._project.argument(call, "init_method") for call in self._project.calls(script, _INIT))
        return any(isinstance(method, Expression) and self._is_here(method) for method in methods)

    def _is_here(self, method: Expression) -> bool:
        origins = self._project.origins(method)
        return any(isinstance(one, Expression) and bool(_HERE.match(self._texts.of(one))) for one in origins)

    def _is_spawned(self, script: Script) -> bool:
        return any(self._project.launches(one) for one in self._read(script))

    def _counts(self, script: Script, is_graph: bool) -> bool:
        if any(read.variable in _VARIABLES for read in self._project.environment_reads(script)):
            return True
        names = [name.replace("-", "_").lstrip("_").lower() for call in script.calls for name in _options(call)]
        return any(_NODES.fullmatch(name) or (not is_graph and _PERHAPS_NODES.fullmatch(name)) for name in names)


def _is_number_of_machines(factor: Expression) -> bool:
    return bool(_COUNTS.fullmatch(last_name(factor)))


def _options(call: Call) -> Iterator[str]:
    """Yield the names of the option that a call defines."""
    if isinstance(call.callee, Attribute) and call.callee.name == "add_argument":
        for given in call.arguments:
            if given.keyword is None and isinstance(given.value, Constant) and isinstance(given.value.value, str):
                yield given.value.value
