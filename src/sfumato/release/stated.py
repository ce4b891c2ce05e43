"""What manifest.json states of requirement and method, as types: which models and methods there are, and their parameters.

An audit reads them here, and not from the programs that it judges; a test compares both.
"""

from typing import Annotated, Any, Literal, NotRequired, TypedDict, get_args

from sfumato.schemas import Extra, Limits, limits


def _exact(**ends: str) -> Limits:
    """Return what a number in lowest terms is, written as text, with the ends of its range."""
    return limits(format="exact", maxLength=801, **ends)


NameText = Annotated[str, limits(minLength=1, maxLength=1000)]
Names = Annotated[list[NameText], limits(minItems=1, uniqueItems=True)]
Text = Annotated[str, limits(maxLength=100_000)]
Listed = Annotated[list[Text], limits(minItems=1, uniqueItems=True)]
Mapped = Annotated[dict[Text, Text], limits(minProperties=1)]
Kind = Literal["numeric", "categorical", "date"]

Whole = Annotated[int, limits(minimum=1, maximum=2_147_483_647)]
FromZero = Annotated[int, limits(minimum=0, maximum=2_147_483_647)]
Amount = Annotated[float, limits(minimum=0, maximum=1e15)]
Weight = Annotated[float, limits(exclusiveMinimum=0, maximum=1e15)]
Weights = Annotated[dict[NameText, Weight], limits(minProperties=1)]

Exact = Annotated[str, _exact()]
UpToOne = Annotated[str, _exact(at_most="1")]
Share = Annotated[str, _exact(above="0", at_most="1")]
BetweenZeroAndOne = Annotated[str, _exact(above="0", below="1")]
Positive = Annotated[str, _exact(above="0")]
FromOne = Annotated[str, _exact(at_least="1")]
AboveOne = Annotated[str, _exact(above="1")]
Retention = Annotated[str, _exact(at_least="1/1000000000000000000", at_most="1")]
Factor = Annotated[str, _exact(at_least="1", at_most="1000000000000000000")]
OddsText = Annotated[str, _exact(above="1", at_most="1000000000000")]
Epsilon = Annotated[str, _exact(above="0", at_most="20")]
RatioText = Annotated[str, limits(pattern="^-?[0-9]{1,400}/[1-9][0-9]{0,399}$")]
NumberEntry = float | RatioText
Date = Annotated[str, limits(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
Sha256 = Annotated[str, limits(pattern="^[0-9a-f]{64}$")]

PluginName = Annotated[str, limits(pattern="^[a-z][a-z0-9-]{0,49}$")]
Package = Annotated[str, limits(pattern="^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}( [0-9A-Za-z.+!]{1,50})?$")]
OptionName = Annotated[str, limits(pattern="^[a-z][a-z0-9_]{0,49}$")]
Option = None | bool | float | Annotated[str, limits(maxLength=1000)]
"""What a method or model of another package may state: it is that package's word."""

# What is required


class _Bounded(TypedDict):
    bound: BetweenZeroAndOne


class _Scaled(TypedDict):
    theta: Exact
    offset: UpToOne
    odds: NotRequired[FromOne]


class _Values(TypedDict):
    values: Listed


class _Near(TypedDict):
    near: Annotated[int, limits(minimum=1, maximum=1000)]


class _Parts(TypedDict):
    column: NameText


class _Kinds(TypedDict):
    map: Mapped


class ValuesBounded(_Values, _Bounded):
    """Values that are bounded together."""


class ValuesScaled(_Values, _Scaled):
    """Values that are bounded together by their share."""


class NearBounded(_Near, _Bounded):
    """Each bin with its neighbours."""


class NearScaled(_Near, _Scaled):
    """Each bin with its neighbours, by their share."""


class PartsBounded(_Parts, _Bounded):
    """Each value of one of several columns that are bounded as combinations."""


class PartsScaled(_Parts, _Scaled):
    """The same by its share."""


class KindsBounded(_Kinds, _Bounded):
    """Each kind of value."""


class KindsScaled(_Kinds, _Scaled):
    """Each kind of value, by its share."""


SetEntry = ValuesBounded | ValuesScaled | NearBounded | NearScaled | PartsBounded | PartsScaled | KindsBounded | KindsScaled
SetEntries = Annotated[dict[NameText, SetEntry], limits(minProperties=1, maxProperties=1000)]
ColumnRequirements = Annotated[dict[NameText, "RequirementEntry"], limits(minProperties=1)]


class _Whole(TypedDict):
    against: Literal["reader", "engineer", "insider"]
    sets: NotRequired[SetEntries]
    columns: NotRequired[ColumnRequirements]


class FPrivacyModel(TypedDict):
    """θ·share + offset, at most odds·share/(1 + (odds − 1)·share), and bounds of single values."""

    model: Literal["f-privacy"]
    theta: Exact
    offset: UpToOne
    odds: NotRequired[FromOne]
    bounds: Annotated[dict[Text, Share], limits(maxProperties=1_000_000)]


class LDiversityModel(TypedDict):
    """At most 1/ℓ."""

    model: Literal["l-diversity"]
    l: Annotated[int, limits(minimum=1, maximum=1_000_000_000)]


class BetaLikenessModel(TypedDict):
    """(1 + β)·share."""

    model: Literal["beta-likeness"]
    beta: Exact
    enhanced: bool


class RhoPrivacyModel(TypedDict):
    """Who believes with at most ρ1 before believes with at most ρ2."""

    model: Literal["rho-privacy"]
    rho1: BetweenZeroAndOne
    rho2: BetweenZeroAndOne


class _ForeignModel(TypedDict):
    model: PluginName
    package: Package


ForeignModel = Annotated[_ForeignModel, Extra(OptionName, Option, 50)]


class FPrivacyEntry(FPrivacyModel, _Whole):
    """The model as a requirement."""


class LDiversityEntry(LDiversityModel, _Whole):
    """The model as a requirement."""


class BetaLikenessEntry(BetaLikenessModel, _Whole):
    """The model as a requirement."""


class RhoPrivacyEntry(RhoPrivacyModel, _Whole):
    """The model as a requirement."""


class DifferentialEntry(TypedDict):
    """How much any odds may grow, by one of two figures."""

    model: Literal["differential"]
    against: Literal["insider"]
    columns: NotRequired[ColumnRequirements]
    epsilon: Epsilon | None
    odds: OddsText | None


class PresenceAssociationEntry(_Whole):
    """Presence by α, values of whoever is present by β."""

    model: Literal["presence-association"]
    alpha: Share
    beta: Share | FPrivacyModel | LDiversityModel | BetaLikenessModel | RhoPrivacyModel | ForeignModel


class _ForeignRequirement(_Whole):
    model: PluginName
    package: Package


ForeignRequirement = Annotated[_ForeignRequirement, Extra(OptionName, Option, 50)]

RequirementEntry = (
    FPrivacyEntry
    | LDiversityEntry
    | BetaLikenessEntry
    | RhoPrivacyEntry
    | DifferentialEntry
    | PresenceAssociationEntry
    | ForeignRequirement
)

# How it was made


class BoxesEntry(TypedDict):
    """`sfumato.methods.Boxes` as a release states it; the classes below likewise."""

    name: Literal["boxes"]
    form: Literal["buckets", "ranges"]
    floor: Whole
    weights: Literal["association"] | Weights | None
    patience: FromZero | None


class MultiSizeEntry(TypedDict):  # noqa: D101  (as above)
    name: Literal["multi-size"]
    form: Literal["buckets", "ranges"]
    strategy: Literal["optimal", "top-down", "two-size", "one-size"]
    search: Literal["none", "loss", "full"]
    max_size: Whole
    gap: Amount
    time_limit: Amount


class DecoysEntry(TypedDict):  # noqa: D101
    name: Literal["decoys"]
    decoys: Whole
    guard: bool
    max_size: Whole
    gap: Amount
    time_limit: Amount


class NearGroupsEntry(TypedDict):  # noqa: D101
    name: Literal["near-groups"]
    form: Literal["ranges", "buckets"]
    effort: Weight | None
    floor: Whole | None
    weights: Weights | None


class AnatomyEntry(TypedDict):  # noqa: D101
    name: Literal["anatomy"]
    l: Whole | None
    suppress: bool


class MondrianEntry(TypedDict):  # noqa: D101
    name: Literal["mondrian"]
    partition: Literal["strict", "relaxed"]
    constraint: Literal["bounds", "distinct", "entropy", "recursive", "t-closeness"]
    k: Whole
    l: Whole | None
    c: Positive | None
    t: UpToOne | None
    distance: Literal["equal", "ordered"] | None
    form: Literal["ranges", "buckets"]


class BuReLEntry(TypedDict):  # noqa: D101
    name: Literal["burel"]
    packing: Literal["fewest", "roomy"]
    fill: Literal["hilbert", "near"]
    candidates: Whole | None
    form: Literal["ranges", "buckets"]


class HeterogeneousEntry(TypedDict):  # noqa: D101
    name: Literal["heterogeneous"]
    accept_weaker_claim: bool
    packing: Literal["paper", "tight"]
    fill: Literal["random", "distant"]
    matcher: Literal["hungarian", "sortgreedy", "greedy"]
    assignment: Literal["walks", "pools"]
    partition: Whole | None
    partitions: Literal["ranks", "separate"] | None


class RingEntry(TypedDict):  # noqa: D101
    name: Literal["ring"]
    accept_weaker_claim: bool
    l: Annotated[int, limits(minimum=2, maximum=2_147_483_647)] | None
    partition: Literal["diverse", "merged"]
    assignment: Literal["walks", "shift"]
    tries: FromZero


DeclaredShares = Annotated[dict[Text, UpToOne], limits(maxProperties=1_000_000)]


class NoisyBoxesEntry(TypedDict):  # noqa: D101
    name: Literal["noisy-boxes"]
    parameters: Literal["declared"]
    shares: DeclaredShares | Annotated[dict[NameText, DeclaredShares], limits(minProperties=2)] | None
    values: Names | Annotated[dict[NameText, Names], limits(minProperties=2)] | None
    has: NotRequired[DeclaredShares | Annotated[dict[NameText, DeclaredShares], limits(minProperties=2)]]
    otherwise: Text | Annotated[dict[NameText, Text], limits(minProperties=2)]
    floor: Whole | None
    merge: bool
    margins: UpToOne | Annotated[list[Annotated[Names, limits(minItems=2, maxItems=2)]], limits(minItems=1)] | None
    weights: Weights | None


class UniformPerturbationEntry(TypedDict):  # noqa: D101
    name: Literal["uniform"]
    parameters: Literal["computed", "declared"]
    shares: DeclaredShares | None
    amplification: AboveOne | None
    otherwise: Text | None


class BuReLPerturbationEntry(TypedDict):  # noqa: D101
    name: Literal["burel-perturbation"]
    parameters: Literal["computed", "declared"]
    shares: DeclaredShares | None
    amplification: AboveOne | None
    otherwise: Text | None


class SmallDomainEntry(TypedDict):  # noqa: D101
    name: Literal["small-domain"]
    parameters: Literal["computed", "declared"]
    shares: DeclaredShares | None
    amplification: AboveOne | None
    retention: Literal["uniform", "per-value"] | None
    order: Literal["improved", "paper"]
    delta: BetweenZeroAndOne
    otherwise: Text | None


class AmbiguityEntry(TypedDict):  # noqa: D101
    name: Literal["ambiguity"]
    grouping: Literal["boxes", "halves", "paper"]
    pick: Literal["sampled", "greedy"]
    suppress: bool
    accept_weaker_claim: bool
    floor: Whole
    weights: Weights | None
    patience: FromZero | None


class PriViewEntry(TypedDict):  # noqa: D101
    name: Literal["priview"]
    grouping: Literal["boxes", "paper"]
    pick: Literal["sampled", "pairs"]
    suppress: bool
    accept_weaker_claim: bool
    column: NameText | Names | None


class PrivBayesEntry(TypedDict):  # noqa: D101
    name: Literal["privbayes"]
    epsilon: Epsilon | None
    values: Names | None
    otherwise: Text | None
    accept_weaker_claim: bool
    degree: Annotated[int, limits(minimum=1, maximum=10)] | None
    theta: Positive


class NoisyTablesEntry(TypedDict):  # noqa: D101
    name: Literal["noisy-tables"]
    epsilon: Epsilon | None
    values: Names | None
    otherwise: Text | None
    accept_weaker_claim: bool
    noise: Literal["opendp", "sfumato"] | None


class _ForeignMethod(TypedDict):
    name: PluginName
    package: Package


OwnMethod = (
    BoxesEntry
    | MultiSizeEntry
    | DecoysEntry
    | NearGroupsEntry
    | AnatomyEntry
    | MondrianEntry
    | BuReLEntry
    | HeterogeneousEntry
    | RingEntry
    | NoisyBoxesEntry
    | SmallDomainEntry
    | UniformPerturbationEntry
    | BuReLPerturbationEntry
    | AmbiguityEntry
    | PriViewEntry
    | PrivBayesEntry
    | NoisyTablesEntry
)
MethodEntry = OwnMethod | Annotated[_ForeignMethod, Extra(OptionName, Option, 50)]

METHODS: dict[str, Any] = {get_args(entry.__annotations__["name"])[0]: entry for entry in get_args(OwnMethod)}
"""Sfumato's own methods, by their names, as manifests state them."""
