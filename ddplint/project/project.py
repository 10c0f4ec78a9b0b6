"""Many files: the scripts of one root, linked, and the questions that need more than one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ddplint.project.accumulation import Accumulations
from ddplint.project.acts import Acts
from ddplint.project.averages import Averages
from ddplint.project.balance import Balance
from ddplint.project.buffers import ModelBuffers
from ddplint.project.bypasses import Bypasses
from ddplint.project.callers import Callers
from ddplint.project.checkpoints import Checkpoints
from ddplint.project.collective_inputs import CollectiveInputs
from ddplint.project.collectives import Collectives
from ddplint.project.cpu_tensors import CpuTensors
from ddplint.project.cuda_starts import CudaStarts
from ddplint.project.data_parallel import DataParallelUses
from ddplint.project.datasets import Datasets
from ddplint.project.dead_tests import DeadTests
from ddplint.project.decorators import Decorators
from ddplint.project.dependence import Dependence
from ddplint.project.devices import Devices
from ddplint.project.digests import Digests
from ddplint.project.drawn_ports import DrawnPorts
from ddplint.project.epochs import Epochs
from ddplint.project.exchanges import Exchanges
from ddplint.project.exits import Exits
from ddplint.project.exports import Exports
from ddplint.project.feeding import Feeding
from ddplint.project.files import ProjectFiles
from ddplint.project.fixed_devices import FixedDevices
from ddplint.project.fixed_settings import FixedSettings
from ddplint.project.follow import Follower
from ddplint.project.frames import Frames
from ddplint.project.frameworks import frameworks_in
from ddplint.project.fresh_starts import FreshStarts
from ddplint.project.frozen import Frozen
from ddplint.project.gradient_exchanges import GradientExchanges
from ddplint.project.group_ends import GroupEnds
from ddplint.project.group_needs import GroupNeeds
from ddplint.project.guards import Guards, Ranks
from ddplint.project.handovers import Handovers
from ddplint.project.horizons import Horizons
from ddplint.project.instances import Instances
from ddplint.project.kept_graphs import KeptGraphs
from ddplint.project.late_changes import LateChanges
from ddplint.project.late_forks import LateForks
from ddplint.project.lengths import Lengths
from ddplint.project.links import Imports
from ddplint.project.loaders import Loader, Loaders
from ddplint.project.local_metrics import LocalMetrics
from ddplint.project.locality import Locality
from ddplint.project.long_waits import LongWaits
from ddplint.project.loop_meetings import LoopMeetings
from ddplint.project.loss_means import LossMeans
from ddplint.project.loss_scales import LossScales
from ddplint.project.lost_gradients import LostGradients
from ddplint.project.machines import Machines
from ddplint.project.meeting_places import MeetingPlaces
from ddplint.project.models import Models
from ddplint.project.moves import Moves
from ddplint.project.normalisation import Normalisation
from ddplint.project.obstacles import Obstacles
from ddplint.project.omission import Omissions
from ddplint.project.optimized import Optimized
from ddplint.project.optimizer_steps import OptimizerSteps
from ddplint.project.options import Options
from ddplint.project.output import hides_bars, replaces_print
from ddplint.project.paddings import Paddings
from ddplint.project.parts import Parts
from ddplint.project.passes import Passes
from ddplint.project.pending import PendingWorks
from ddplint.project.placement import Placement
from ddplint.project.plain_starts import PlainStarts
from ddplint.project.port_fallbacks import PortFallbacks
from ddplint.project.processes import Processes
from ddplint.project.ragged_tensors import RaggedTensors
from ddplint.project.random_streams import RandomStreams
from ddplint.project.rank_fallbacks import RankFallbacks
from ddplint.project.rank_idioms import RankIdioms
from ddplint.project.rank_outcomes import RankOutcomes
from ddplint.project.rank_parts import RankParts
from ddplint.project.rank_uses import RankUses
from ddplint.project.reach import Reach
from ddplint.project.rendezvous import MeetingPort, Rendezvous
from ddplint.project.repeated_forwards import RepeatedForwards
from ddplint.project.repeated_work import RepeatedWorks
from ddplint.project.roles import Role, role_of
from ddplint.project.run_paths import RunPaths
from ddplint.project.sameness import SameValues
from ddplint.project.samplers import Samplers
from ddplint.project.saves import Saves
from ddplint.project.scaling import Scaling
from ddplint.project.scripts import Parsed, Scripts
from ddplint.project.seeds import Seeds
from ddplint.project.selective import Selective
from ddplint.project.single_uses import SingleUses
from ddplint.project.sites import Sites
from ddplint.project.stored_states import StoredStates
from ddplint.project.swallowed import SwallowedFailures
from ddplint.project.switches import Switches
from ddplint.project.timings import Timings
from ddplint.project.torch_range import TorchRange, torch_range
from ddplint.project.trail import Trail
from ddplint.project.training import Training
from ddplint.project.training_steps import TrainingSteps
from ddplint.project.turns import Turns
from ddplint.project.type_tests import tells_apart
from ddplint.project.uncalled import UncalledGuards
from ddplint.project.uneven_loops import UnevenLoops
from ddplint.project.uneven_shares import UnevenShares
from ddplint.project.unused_parts import UnusedParts
from ddplint.project.visible_devices import VisibleDevices
from ddplint.project.wrapped import WrappedAccesses
from ddplint.project.writes import Writes
from ddplint.semantics import Call, Constant, Expression, Script
from ddplint.semantics.arguments import Missing, argument
from ddplint.semantics.environment import EnvironmentRead, EnvironmentWrite, environment_reads, environment_writes
from ddplint.semantics.names import Definition
from ddplint.semantics.rank_values import RankValues
from ddplint.semantics.ranks import RankTests
from ddplint.semantics.references import Reference, References
from ddplint.semantics.resolve import Origin, Resolver
from ddplint.semantics.spawners import launches, spawners
from ddplint.semantics.structure import Function, Scope
from ddplint.semantics.uses import Uses

# Any of these words shows that a program runs as several processes that train together.
DISTRIBUTION_WORDS = (
    b"init_process_group",
    b"DistributedDataParallel",
    b"DistributedSampler",
    b"torchrun",
    b"torch.distributed.launch",
    b"mp.spawn",
    b"LOCAL_RANK",
    b"WORLD_SIZE",
)


class Project:
    """The scripts below one root. Each file is read and parsed once, when a question needs it."""

    def __init__(
        self,
        root: Path,
        torch: TorchRange | None = None,
        contents: Mapping[Path, bytes] | None = None,
        parsed: Parsed | None = None,
    ) -> None:
        self._torch = torch
        self.files = ProjectFiles(root, contents)
        self.digests = Digests(self)
        self.scripts = Scripts(self.files, parsed)
        self.imports = Imports(self.files, self.scripts)
        self.resolver = Resolver(self)
        self.rank_values = RankValues(self.resolver, self)
        self.rank_tests = RankTests(self.resolver, self.rank_values)
        self.frames = Frames(self.resolver)
        self.models = Models(self.resolver, self.frames, self.mentions)
        self.collectives = Collectives(self.resolver, self.models)
        self.dependence = Dependence(self.resolver, self.frames)
        self.exchanges = Exchanges(self.resolver, self.collectives, self.dependence)
        self.rank_outcomes = RankOutcomes(self)
        self.decorators = Decorators(self)
        self.guards = Guards(self)
        self.sites = Sites(self.collectives, self.rank_outcomes, self.dependence)
        self.balance = Balance(self)
        self.locality = Locality(self)
        self.exits = Exits(self)
        self.moves = Moves(self)
        self.bypasses = Bypasses(self)
        self.wrapped_accesses = WrappedAccesses(self)
        self.reach = Reach(self.resolver)
        self.buffers = ModelBuffers(self.resolver, self.frames, self.models, self.reach)
        self.training = Training(self, self.reach, Instances(self.files, self.scripts, self.resolver))
        self.data_parallel = DataParallelUses(self.resolver, self.reach)
        self.obstacles = Obstacles(self, self.data_parallel, self.training)
        self.turns = Turns(self)
        self.selective = Selective(self)
        self.processes = Processes(self, self.reach)
        self.switches = Switches(self)
        self.training_steps = TrainingSteps(self)
        self.kept_graphs = KeptGraphs(self)
        self.repeated_forwards = RepeatedForwards(self)
        self.late_changes = LateChanges(self)
        self.parts = Parts(self)
        self.unused_parts = UnusedParts(self)
        self.timings = Timings(self)
        self.optimized = Optimized(self)
        self.fixed_settings = FixedSettings(self)
        self.uncalled_guards = UncalledGuards(self)
        self.rank_idioms = RankIdioms(self, self.processes)
        self.omissions = Omissions(self)
        self.same_values = SameValues(self)
        self.writes = Writes(self)
        self.saves = Saves(self)
        self.single_uses = SingleUses(self)
        self.passes = Passes(self)
        self.samplers = Samplers(self.resolver)
        self.checkpoints = Checkpoints(self)
        self.stored_states = StoredStates(self)
        self.devices = Devices(self)
        self.machines = Machines(self)
        self.fixed_devices = FixedDevices(self)
        self.rank_uses = RankUses(self)
        self.plain_starts = PlainStarts(self)
        self.group_ends = GroupEnds(self)
        self.drawn_ports = DrawnPorts(self)
        self.rank_fallbacks = RankFallbacks(self)
        self.fresh_starts = FreshStarts(self)
        self.placement = Placement(self)
        self.frozen = Frozen(self)
        self.normalisation = Normalisation(self)
        self.rank_parts = RankParts(self)
        self.datasets = Datasets(self)
        self.lengths = Lengths(self)
        self.random_streams = RandomStreams(self)
        self.paddings = Paddings(self)
        self.seeds = Seeds(self)
        self.feeding = Feeding(self)
        self.epochs = Epochs(self)
        self.options = Options(self)
        self.scaling = Scaling(self)
        self.dead_tests = DeadTests(self)
        self.pending_works = PendingWorks(self)
        self.handovers = Handovers(self)
        self.run_paths = RunPaths(self)
        self.acts = Acts(self)
        self.loss_scales = LossScales(self)
        self.optimizer_steps = OptimizerSteps(self)
        self.accumulations = Accumulations(self)
        self.gradient_exchanges = GradientExchanges(self)
        self.uneven_shares = UnevenShares(self)
        self.visible_devices = VisibleDevices(self)
        self.cpu_tensors = CpuTensors(self)
        self.lost_gradients = LostGradients(self)
        self.averages = Averages(self)
        self.long_waits = LongWaits(self)
        self.loop_meetings = LoopMeetings(self)
        self.uneven_loops = UnevenLoops(self)
        self.swallowed_failures = SwallowedFailures(self)
        self.meeting_places = MeetingPlaces(self)
        self.repeated_works = RepeatedWorks(self)
        self.cuda_starts = CudaStarts(self)
        self.late_forks = LateForks(self)
        self.local_metrics = LocalMetrics(self)
        self.group_needs = GroupNeeds(self)
        self.collective_inputs = CollectiveInputs(self)
        self.ragged_tensors = RaggedTensors(self)
        self.horizons = Horizons(self)
        self.loss_means = LossMeans(self)
        self._loaders = Loaders(self)
        self._follower = Follower(self)
        self._callers = Callers(self.files, self.scripts, self.resolver)
        self._exports = Exports(self.files, self.scripts, self.resolver)
        self._references: dict[int, References] = {}
        self._rendezvous = Rendezvous(self.resolver)
        self._port_fallbacks = PortFallbacks(self.resolver)
        self._environment_reads: dict[int, list[EnvironmentRead]] = {}
        self._calls: dict[int, dict[str, list[Call]]] = {}

    @property
    def torch(self) -> TorchRange:
        """The versions of torch that the project is for."""
        if self._torch is None:
            self._torch = torch_range(self.files.root)
        return self._torch

    def add(self, script: Script, path: Path) -> None:
        """Take in a script that was parsed elsewhere, so that its file is not parsed again."""
        self.scripts.add(script, path)

    def script(self, path: Path) -> Script | None:
        """Return the script of a file of the project, None when it can't be read or parsed."""
        return self.scripts.at(path)

    def definition(self, script: Script, name: str) -> Definition | None:
        """Return the bindings of an imported name in the project file that defines it; no bindings: a module."""
        return self.imports.definition(script, name)

    def star(self, script: Script, module: str, name: str) -> bool:
        """Whether ``from module import *`` in a script binds ``name``."""
        return self.imports.star(script, module, name)

    def callers(self, function: Function) -> tuple[Sequence[Call], bool]:
        """Return the calls of a function that can be seen, and whether these are all."""
        return self._callers.of(function)

    def names(self, expression: Expression) -> frozenset[str]:
        """Return every dotted name that an expression can stand for (see Resolver.names)."""
        return self.resolver.names(expression)

    def origins(self, expression: Expression) -> tuple[Origin, ...]:
        """Return everything that can have made an expression's value (see Resolver.origins)."""
        return self.resolver.origins(expression)

    def calls(self, script: Script, *names: str) -> list[Call]:
        """Return a script's calls of what any of the documented names stands for, in source order.

        A callee that can also be something else counts: ask ``certainly`` where that matters.
        """
        if id(script) not in self._calls:
            index = self._calls[id(script)] = {}
            for call in script.calls:
                for name in self.names(call.callee):
                    index.setdefault(name, []).append(call)
        found = [call for name in names for call in self._calls[id(script)].get(name, ())]
        return sorted(dict.fromkeys(found), key=lambda call: call.order)

    def references(self, script: Script, *names: str) -> list[Reference]:
        """Return where a script reads what certainly is one of the documented names (see References.to)."""
        return self.references_in(script).to(*names)

    def references_in(self, script: Script) -> References:
        """Return the references of a script to what it imports."""
        if id(script) not in self._references:
            self._references[id(script)] = References(self.resolver, script)
        return self._references[id(script)]

    def is_read_elsewhere(self, scope: Scope, name: str) -> bool:
        """Whether code in other files may read a name of a scope (see Exports)."""
        return self._exports.is_read_elsewhere(scope, name)

    def is_told_apart(self, script: Script, name: str) -> bool:
        """Whether the program of a script tells the objects of a class of this name from those of its base class."""
        return tells_apart(self.contents(script), name)

    def trail(self, value: Expression) -> Trail:
        """Return where the value of an expression goes (see Trail)."""
        return self._follower.trail(value)

    def uses(self, script: Script) -> Uses:
        """Return what is made of the values of a script's expressions (see Uses)."""
        return self._follower.uses(script)

    def loaders(self, script: Script) -> tuple[Loader, ...]:
        """Return the data loaders that a script makes."""
        return self._loaders.of(script)

    def certainly(self, expression: Expression, *names: str) -> bool:
        """Whether an expression can't stand for anything but these documented names."""
        return self.names(expression) <= frozenset(names)

    def argument(self, call: Call, name: str) -> Expression | Missing:
        """Return what a call gives for a parameter, or why that can't be said (see semantics.arguments)."""
        return argument(self.resolver, call, name)

    def constants(self, expression: Expression) -> frozenset[object] | None:
        """Return every constant that an expression can be, None when it can be anything else."""
        origins = self.origins(expression)
        if not all(isinstance(origin, Constant) for origin in origins):
            return None
        return frozenset(origin.value for origin in origins if isinstance(origin, Constant))

    def guard(self, at: Expression) -> Expression | None:
        """Return what lets only some ranks come to an expression, None when nothing in sight does (see Guards.of)."""
        return self.guards.of(at)

    def ranks(self, at: Expression) -> Ranks:
        """Return which ranks come to an expression, and what decides it (see Guards.ranks)."""
        return self.guards.ranks(at)

    def meeting_ports(self, script: Script) -> list[MeetingPort]:
        """Return the ports, written into a script, at which processes meet, but for those that are only a way out.

        A way out is used when nobody gave a port, or when one process runs alone.
        """
        return [port for port in self._rendezvous.ports(script) if not self._port_fallbacks.is_one(port)]

    def environment_writes(self, script: Script, variable: str) -> list[EnvironmentWrite]:
        """Return where a script writes an environment variable."""
        return list(environment_writes(self.resolver, script, variable))

    def environment_reads(self, script: Script) -> list[EnvironmentRead]:
        """Return where a script reads environment variables."""
        if id(script) not in self._environment_reads:
            self._environment_reads[id(script)] = list(environment_reads(self.resolver, script))
        return self._environment_reads[id(script)]

    def launches(self, script: Script) -> list[Call]:
        """Return the calls of a script that start processes."""
        return launches(self.resolver, script)

    def spawners(self, function: Function) -> list[Call]:
        """Return the calls that start the processes which come to a function, in its own file."""
        return spawners(self.resolver, function)

    def program(self, path: Path) -> tuple[Path, ...]:
        """Return the files that run together with a file."""
        return self.files.program(path)

    def contents(self, script: Script) -> Iterator[bytes]:
        """Yield what the files hold that run together with a script, its own included."""
        return (self._content(script, path) for path in self.program_of(script))

    def mentions(self, script: Script, words: Sequence[bytes]) -> bool:
        """Whether any of the words occurs in the files that run together with a script."""
        return any(word in content for content in self.contents(script) for word in words)

    def is_distributed(self, script: Script) -> bool:
        """Whether the program that a script belongs to trains with several processes."""
        return self.mentions(script, DISTRIBUTION_WORDS)

    def replaces_print(self, script: Script) -> bool:
        """Whether the program that a script belongs to puts its own function in the place of ``print``."""
        return any(map(replaces_print, self.contents(script)))

    def hides_bars(self, script: Script) -> bool:
        """Whether the program that a script belongs to switches progress bars off, or redirects the error stream."""
        return any(map(hides_bars, self.contents(script)))

    def role(self, script: Script) -> Role:
        """Return what a script is for, as far as its path says: training, evaluation, a test."""
        path = self.scripts.path_of(script)
        below = path is not None and path.is_relative_to(self.files.root)
        shown = path.relative_to(self.files.root) if path is not None and below else Path(script.path)
        return role_of(shown, script.source.text)

    def frameworks(self, script: Script) -> frozenset[str]:
        """Return the training frameworks that drive the program of a script."""
        found: frozenset[str] = frozenset()
        for content in self.contents(script):
            found |= frameworks_in(content)
        return found

    def program_of(self, script: Script) -> tuple[Path, ...]:
        """Return the files that run together with a script, its own included."""
        path = self.scripts.path_of(script)
        return (Path(script.path),) if path is None else self.program(path)

    def _content(self, script: Script, path: Path) -> bytes:
        if path == (self.scripts.path_of(script) or Path(script.path)):
            return script.source.text.encode("utf-8", "surrogatepass")
        return self.files.content(path)
