"""Methods: one public class a file."""

from sfumato.groups.boxes import room_for_a_cut
from sfumato.groups.settings.feasible import exists, nearest_size
from sfumato.groups.soft import soft_rule
from sfumato.methods.ambiguity import Ambiguity
from sfumato.methods.anatomy import Anatomy
from sfumato.methods.base import Method, Publication, Task, table_bounds
from sfumato.methods.boxes import Boxes
from sfumato.methods.burel import BuReL
from sfumato.methods.burel_perturbation import BuReLPerturbation
from sfumato.methods.mondrian import Mondrian
from sfumato.methods.multi_size import MultiSize
from sfumato.methods.near_groups import NearGroups
from sfumato.methods.noisy_boxes import NoisyBoxes
from sfumato.methods.priview import PriView
from sfumato.methods.small_domain import SmallDomain
from sfumato.methods.uniform import UniformPerturbation
from sfumato.plugins import Registry
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Requirement
from sfumato.table.closed import Closed, ClosedColumns
from sfumato.table.table import Table

_OWN: tuple[type[Method], ...] = (
    Boxes,
    NearGroups,
    MultiSize,
    Anatomy,
    Mondrian,
    BuReL,
    NoisyBoxes,
    SmallDomain,
    UniformPerturbation,
    BuReLPerturbation,
    Ambiguity,
    PriView,
)

METHODS: Registry[Method] = Registry({kind.name: kind for kind in _OWN}, "sfumato.methods", Method)
"""The methods by the name they have in a policy file, those of guests and of installed packages too."""


def default_method(requirement: Requirement, table: Table) -> Method:
    """Return the method used when a policy names none, chosen by the requirement and by the table's counts alone.

    Where presence is bounded too: quasi columns apart, on disjoint boxes. Else boxes of near people, if the counts leave room for
    a first cut; if not, near people matched into small groups where that holds against the adversary and bounds are equal, else
    blind groups; with bounds on sets always boxes. Counts are published in any case, so the choice tells nobody anything. Where
    odds are bounded: noisy boxes, if the table was read with its values declared. Against an insider under the other models
    shares must be declared with a method, which a policy does under [method] without a name.
    """
    return choose_method(requirement, table)[0]


def choose_method(requirement: Requirement, table: Table) -> tuple[Method, Bounds | None]:
    """Return the default method, and its bounds on the table where the choice took them."""
    if requirement.presence is not None:
        return Ambiguity(), None
    declared = table.schema.closed
    if requirement.bounds_odds and isinstance(declared, Closed):
        return NoisyBoxes(values=declared.values, otherwise=declared.otherwise), None
    if requirement.bounds_odds and isinstance(declared, ClosedColumns):
        columns = dict(declared.columns)
        values, others = ({name: getattr(closed, key) for name, closed in columns.items()} for key in ("values", "otherwise"))
        return NoisyBoxes(values=values, otherwise=others), None
    boxes = Boxes()
    bounds = table_bounds(table, requirement)
    tight = requirement.against == "reader"
    if room_for_a_cut(bounds, floor=boxes.floor_for(table.rows), tight=tight, soft=None if tight else soft_rule(bounds)):
        return boxes, bounds
    if bounds.members or len(bounds.secrets) > 1 or table.bundles is not None:
        return boxes, bounds  # no other method keeps bounds on sets, on several columns, or on several values a person
    if requirement.against == "engineer" and bounds.protects and len(set(bounds.limits)) == 1:
        return NearGroups(form="buckets"), bounds
    size = MultiSize().max_size
    fits = size if exists(bounds, "optimal", size) else nearest_size(bounds, "optimal", size) or size
    return MultiSize(max_size=fits), bounds


__all__ = [
    "METHODS",
    "Ambiguity",
    "Anatomy",
    "Boxes",
    "BuReL",
    "BuReLPerturbation",
    "Method",
    "Mondrian",
    "MultiSize",
    "NearGroups",
    "NoisyBoxes",
    "PriView",
    "Publication",
    "SmallDomain",
    "Task",
    "UniformPerturbation",
    "choose_method",
    "default_method",
]
