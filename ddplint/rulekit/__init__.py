"""The face for rule authors: everything that a rule file imports comes from here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ddplint.findings import Applicability, Confidence, Edit, Finding, Fix, Impact, Verdict
from ddplint.migration import DataParallelMove, Rename, TorchAmpMove
from ddplint.project import Project
from ddplint.project.accumulation import Accumulation
from ddplint.project.acts import Act
from ddplint.project.averages import MeanOfMeans, RepeatedSum
from ddplint.project.balance import Lopsided
from ddplint.project.buffers import Buffers
from ddplint.project.bypasses import Bypass
from ddplint.project.collectives import BACKWARD, FORWARD, WRAP
from ddplint.project.cpu_tensors import CpuTensor
from ddplint.project.data_parallel import DataParallelUse, Form
from ddplint.project.datasets import Share
from ddplint.project.dead_tests import Deadness, DeadTest
from ddplint.project.devices import DeviceIndex
from ddplint.project.exits import UnevenExit
from ddplint.project.fixed_devices import FixedDevice
from ddplint.project.fixed_settings import FixedSetting
from ddplint.project.frameworks import LOOP_DRIVERS
from ddplint.project.gradient_exchanges import GradientExchange
from ddplint.project.guards import Ranks, RankSet
from ddplint.project.handovers import Handover, HandoverKind
from ddplint.project.horizons import Horizon
from ddplint.project.kept_graphs import KeptGraph
from ddplint.project.late_changes import LateChange, LateKind
from ddplint.project.late_forks import LateFork
from ddplint.project.loaders import Loader
from ddplint.project.local_metrics import LocalMetric, MetricUse
from ddplint.project.locality import Divergence
from ddplint.project.long_waits import LongWait
from ddplint.project.loss_means import LossMean
from ddplint.project.loss_scales import ScaledClip
from ddplint.project.lost_gradients import LostGradient
from ddplint.project.meeting_places import MissingPlace
from ddplint.project.models import Wrapper
from ddplint.project.optimized import LeftBehind, LonePart, LostParameters
from ddplint.project.optimizer_steps import EarlyStep
from ddplint.project.paddings import Padding
from ddplint.project.passes import Purpose, Repeat
from ddplint.project.pending import Pending
from ddplint.project.placement import Change, Move
from ddplint.project.plain_starts import LAUNCHER_VARIABLES, SingleRun
from ddplint.project.ragged_tensors import RaggedTensor
from ddplint.project.random_streams import SharedStream, WorkerSeed
from ddplint.project.rank_uses import RankPurpose, RankUse
from ddplint.project.rendezvous import MeetingForm, MeetingPort
from ddplint.project.repeated_forwards import RepeatedForward
from ddplint.project.repeated_work import RepeatedWork, WorkKind
from ddplint.project.roles import Role
from ddplint.project.run_paths import RunPath
from ddplint.project.sameness import Sameness
from ddplint.project.samplers import Sampler, SamplerKind
from ddplint.project.saves import SharedSave
from ddplint.project.seeds import Spread
from ddplint.project.sites import Site
from ddplint.project.stored_states import Mismatch
from ddplint.project.swallowed import Swallowed
from ddplint.project.timings import EarlyTime
from ddplint.project.trail import Pass, Trail
from ddplint.project.uncalled import Uncalled
from ddplint.project.uneven_loops import UnevenLoop
from ddplint.project.uneven_shares import UnevenShare
from ddplint.project.unused_parts import UnusedPart
from ddplint.project.visible_devices import VisibleMisuse, VisibleUse
from ddplint.project.wrapped import Access
from ddplint.project.writes import FileWrite, WriteKind
from ddplint.rulekit.guarding import Guard, guarded
from ddplint.rulekit.proofs import (
    decided_by,
    done_by_ranks,
    done_every_step,
    quoted,
    ranks_named,
    set_in_environment,
    warned_of,
)
from ddplint.rulekit.removal import removed
from ddplint.rulekit.rule import Found, Rule, SuppressionReport
from ddplint.semantics import (
    Argument,
    Assigned,
    Attribute,
    Call,
    Comparison,
    Comprehension,
    Conditional,
    Constant,
    Expression,
    FormattedText,
    Lambda,
    Logic,
    Mapping,
    Name,
    Not,
    Operation,
    ParseFailure,
    Passed,
    Script,
    Sequence,
    Subscript,
)
from ddplint.semantics.arguments import Missing
from ddplint.semantics.attempts import caught
from ddplint.semantics.comments import has_comment
from ddplint.semantics.environment import EnvironmentRead, EnvironmentWrite, WriteForm
from ddplint.semantics.expressions import last_name
from ddplint.semantics.fallbacks import is_fallback
from ddplint.semantics.in_reach import InReach, in_reach
from ddplint.semantics.names import LOCAL, UNKNOWN_NAME
from ddplint.semantics.rank_values import RankValue
from ddplint.semantics.reaching import reaching, surely_bound
from ddplint.semantics.references import Reference, Use
from ddplint.semantics.resolve import UNKNOWN, Imported, Origin, Part
from ddplint.semantics.shown import shown, written
from ddplint.semantics.speech import is_whole_statement
from ddplint.semantics.structure import (
    Binding,
    BindingKind,
    Class,
    Exit,
    ExitKind,
    Function,
    Loop,
    LoopKind,
    Parameter,
    Region,
    RegionKind,
    Scope,
    Statement,
    Store,
)
from ddplint.source import Position, SourceFile
from ddplint.trace import Event, Kind, Trace, Wait

if TYPE_CHECKING:
    from ddplint.edits import Editor
else:
    Editor = Any  # only annotations name it, and the real one would import libcst before a file needs it

__all__ = [
    "BACKWARD",
    "FORWARD",
    "LAUNCHER_VARIABLES",
    "LOCAL",
    "LOOP_DRIVERS",
    "UNKNOWN",
    "UNKNOWN_NAME",
    "WRAP",
    "Access",
    "Accumulation",
    "Act",
    "Applicability",
    "Argument",
    "Assigned",
    "Attribute",
    "Binding",
    "BindingKind",
    "Buffers",
    "Bypass",
    "Call",
    "Change",
    "Class",
    "Comparison",
    "Comprehension",
    "Conditional",
    "Confidence",
    "Constant",
    "CpuTensor",
    "DataParallelMove",
    "DataParallelUse",
    "DeadTest",
    "Deadness",
    "DeviceIndex",
    "Divergence",
    "EarlyStep",
    "EarlyTime",
    "Edit",
    "Editor",
    "EnvironmentRead",
    "EnvironmentWrite",
    "Event",
    "Exit",
    "ExitKind",
    "Expression",
    "FileWrite",
    "Finding",
    "Fix",
    "FixedDevice",
    "FixedSetting",
    "Form",
    "FormattedText",
    "Found",
    "Function",
    "GradientExchange",
    "Guard",
    "Handover",
    "HandoverKind",
    "Horizon",
    "Impact",
    "Imported",
    "InReach",
    "KeptGraph",
    "Kind",
    "Lambda",
    "LateChange",
    "LateFork",
    "LateKind",
    "LeftBehind",
    "Loader",
    "LocalMetric",
    "Logic",
    "LonePart",
    "LongWait",
    "Loop",
    "LoopKind",
    "Lopsided",
    "LossMean",
    "LostGradient",
    "LostParameters",
    "Mapping",
    "MeanOfMeans",
    "MeetingForm",
    "MeetingPort",
    "MetricUse",
    "Mismatch",
    "Missing",
    "MissingPlace",
    "Move",
    "Name",
    "Not",
    "Operation",
    "Origin",
    "Padding",
    "Parameter",
    "ParseFailure",
    "Part",
    "Pass",
    "Passed",
    "Pending",
    "Position",
    "Project",
    "Purpose",
    "RaggedTensor",
    "RankPurpose",
    "RankSet",
    "RankUse",
    "RankValue",
    "Ranks",
    "Reference",
    "Region",
    "RegionKind",
    "Rename",
    "Repeat",
    "RepeatedForward",
    "RepeatedSum",
    "RepeatedWork",
    "Role",
    "Rule",
    "RunPath",
    "Sameness",
    "Sampler",
    "SamplerKind",
    "ScaledClip",
    "Scope",
    "Script",
    "Sequence",
    "Share",
    "SharedSave",
    "SharedStream",
    "SingleRun",
    "Site",
    "SourceFile",
    "Spread",
    "Statement",
    "Store",
    "Subscript",
    "SuppressionReport",
    "Swallowed",
    "TorchAmpMove",
    "Trace",
    "Trail",
    "Uncalled",
    "UnevenExit",
    "UnevenLoop",
    "UnevenShare",
    "UnusedPart",
    "Use",
    "Verdict",
    "VisibleMisuse",
    "VisibleUse",
    "Wait",
    "WorkKind",
    "WorkerSeed",
    "Wrapper",
    "WriteForm",
    "WriteKind",
    "caught",
    "decided_by",
    "done_by_ranks",
    "done_every_step",
    "guarded",
    "has_comment",
    "in_reach",
    "is_fallback",
    "is_whole_statement",
    "last_name",
    "quoted",
    "ranks_named",
    "reaching",
    "removed",
    "set_in_environment",
    "shown",
    "surely_bound",
    "warned_of",
    "written",
]
