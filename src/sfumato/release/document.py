"""What manifest.json holds, as types from which its schema follows (`release/shape.py`); docs/formats.md says what it means."""

from typing import Annotated, Literal, NotRequired, TypedDict

from sfumato.basis import BasisName
from sfumato.release.stated import (
    BetweenZeroAndOne,
    Date,
    Exact,
    Factor,
    FromZero,
    Kind,
    Listed,
    Mapped,
    MethodEntry,
    Names,
    NameText,
    NumberEntry,
    RequirementEntry,
    Retention,
    Sha256,
    Text,
    UpToOne,
    Whole,
)
from sfumato.schemas import limits

# What was declared about columns


class ColumnEntry(TypedDict):
    """A published column."""

    name: NameText
    kind: Kind


class Widened(TypedDict, total=False):
    """Numbers in steps, with open ends."""

    width: NumberEntry
    top: NumberEntry
    bottom: NumberEntry
    origin: NumberEntry


class RoundedEntry(TypedDict):
    """Numbers rounded to multiples."""

    round: NumberEntry


class Prefixed(TypedDict):
    """The beginning of a text."""

    prefix: Whole


class Truncated(TypedDict):
    """Dates without their end."""

    to: Literal["day", "week", "month", "quarter", "year"]


class DiagnosisEntry(TypedDict):
    """Diagnoses by the chapters of a classification."""

    icd: Literal[9, 10]


class Renamed(TypedDict):
    """Values by a map, others by one word."""

    map: Mapped
    other: NotRequired[Text]


RecodeEntry = Widened | RoundedEntry | Prefixed | Truncated | DiagnosisEntry | Renamed
Edges = Annotated[list[NumberEntry | Literal["inf", "-inf"]], limits(minItems=2)]


class LabelledBins(TypedDict):
    """Bins with labels, or with ends that hold what lies beyond them."""

    edges: Edges
    labels: NotRequired[Listed]
    clip: NotRequired[Literal[True, "above"]]


class Range(TypedDict):
    """A declared domain of numbers or dates."""

    min: NumberEntry | Date
    max: NumberEntry | Date


class ClosedEntry(TypedDict):
    """The values that somebody may have, and the one of whoever has another."""

    values: Annotated[list[Text], limits(minItems=2, uniqueItems=True)]
    otherwise: Text


class PeopleEntry(TypedDict, total=False):
    """That a person has all her rows, which numbers of rows may share a group, and of how many values noise counts her.

    With `shares` bounds follow from each band's own shares.
    Of a `unit` in place of people that it has the rows of all members; and whether these may have several.
    """

    keep: Literal["all"]
    unit: Literal["household"]
    several: bool
    alike: Literal["rows", "sizes", "exact"] | list[Annotated[int, limits(minimum=2)]]
    shares: Literal["band"]
    most: Whole | Annotated[dict[NameText, Whole], limits(minProperties=2)]


class WeightEntry(TypedDict):
    """The weight of a survey: which numbers stand for which bins, and whether it was made without secrets."""

    column: NameText
    made_without_secrets: bool
    bins: Edges
    values: Annotated[list[NumberEntry], limits(minItems=1)]
    floor: NotRequired[Annotated[int, limits(minimum=2)]]
    strata: NotRequired[NameText]
    cluster: NotRequired[NameText]
    from_table: NotRequired[Literal[True]]


class Declared(TypedDict):
    """What the policy declared about columns."""

    quasi: Names
    sensitive: Names
    types: dict[NameText, Kind]
    recode: dict[NameText, RecodeEntry]
    bins: dict[NameText, Edges | LabelledBins]
    domains: dict[NameText, Annotated[list[Text], limits(minItems=1)] | Range]
    protect: NotRequired[Literal["each", "combination"]]
    secrets: NotRequired[Annotated[dict[NameText, Names], limits(minProperties=1)]]
    people: NotRequired[PeopleEntry]
    weight: NotRequired[WeightEntry]
    closed: NotRequired[ClosedEntry | Annotated[dict[NameText, ClosedEntry], limits(minProperties=2)]]


class ManifestSchema(TypedDict):
    """The columns of a release."""

    quasi: Annotated[list[ColumnEntry], limits(minItems=1)]
    sensitive: Annotated[list[ColumnEntry], limits(minItems=1)]
    declared: Declared


# What each form says of itself

NoteText = Literal[
    "k-anonymity makes no claim about sensitive values",
    "the constraint 'distinct', kept in every group, makes no claim about sensitive values",
    "the constraint 'entropy', kept in every group, makes no claim about sensitive values",
    "the constraint 'recursive', kept in every group, makes no claim about sensitive values",
    "the constraint 't-closeness', kept in every group, makes no claim about sensitive values",
]


class _Parameters(TypedDict):
    one_row_per_person: bool


class MarginsEntry(TypedDict):
    """Noisy tables beside noisy boxes: the quasi columns of each, their part of γ, and the ratio of their noise."""

    tables: Annotated[list[Names], limits(minItems=1)]
    gamma: Factor
    ratio: BetweenZeroAndOne


class BucketsParameters(_Parameters):
    """Of buckets."""

    groups: Whole
    decoys: FromZero
    suppression: bool
    gamma: NotRequired[Factor]
    ratio: NotRequired[BetweenZeroAndOne]
    margins: NotRequired[MarginsEntry]
    margins_from: NotRequired[Whole]
    note: NotRequired[NoteText]


class RangesParameters(_Parameters):
    """Of ranges, shared or of one's own."""

    groups: Whole
    weaker_claim: NotRequired[Text]
    matches: NotRequired[Whole]
    dummies: NotRequired[FromZero]
    note: NotRequired[NoteText]


class Suppression(TypedDict):
    """How many people were left out, and why that was allowed."""

    option: Literal["suppress"]
    people: Whole


class ColumnsParameters(_Parameters):
    """Of quasi columns apart."""

    groups: Whole
    suppression: NotRequired[Suppression]
    weaker_claim: NotRequired[Text]


class ViewsParameters(ColumnsParameters):
    """Of two views; `moved` are the columns beside the sensitive ones."""

    moved: Names


PlainValue = Text | float | None


class RandomizedPartEntry(TypedDict):
    """The matrix of a part."""

    part: Whole
    values: Annotated[list[PlainValue | Annotated[list[PlainValue], limits(minItems=2)]], limits(minItems=1)]
    retention: Retention | Annotated[list[Retention], limits(minItems=1)]
    gamma: NotRequired[Factor]
    largest_share: NotRequired[UpToOne]
    shares: NotRequired[Annotated[list[UpToOne], limits(minItems=1)]]
    weight: NotRequired[Exact]


class RandomizedParameters(_Parameters):
    """Of randomized values."""

    parameters: Literal["computed", "declared"]
    parts: Annotated[list[RandomizedPartEntry], limits(minItems=1)]


class SyntheticParameters(_Parameters):
    """Of synthetic records."""

    epsilon: Exact
    gamma: Factor
    measured: Annotated[list[Names], limits(minItems=1)]
    noise: NotRequired[Literal["opendp", "sfumato"]]
    weaker_claim: Text


# The whole


class StatedClaim(TypedDict):
    """One promise, in fixed words."""

    kind: Literal["association", "presence"]
    adversary: Literal["reader", "engineer", "insider", "stranger"]
    statement: Text


class ListedValue(TypedDict):
    """A sensitive value with its count and its bound."""

    value: Text
    count: Whole
    bound: UpToOne


class ListedSet(TypedDict):
    """A set of values with its count and its bound."""

    set: Text
    count: Whole
    bound: UpToOne


class ListedValues(TypedDict):
    """The values of sensitive columns."""

    columns: Names
    values: Annotated[list[ListedValue], limits(minItems=1)]
    sets: NotRequired[Annotated[list[ListedSet], limits(minItems=1)]]


class TableColumn(TypedDict):
    """A column of a table."""

    name: NameText
    type: Literal["bool", "int32", "int64", "double", "string", "date32[day]", "timestamp[us]", "list<element: string>"]


class TableFile(TypedDict):
    """A file with rows of a table."""

    file: NameText
    rows: Whole
    sha256: Sha256


class PublishedTable(TypedDict):
    """A table, and the files in which it lies."""

    rows: Whole
    columns: Annotated[list[TableColumn], limits(minItems=1)]
    files: Annotated[list[TableFile], limits(minItems=1, maxItems=512)]


class _Manifest(TypedDict):
    format: Literal["sfumato-release"]
    version: Literal[3]
    basis: BasisName | None
    software: Annotated[str, limits(pattern=r"^sfumato (0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){2}$")]
    rows: Whole
    schema: ManifestSchema
    requirement: RequirementEntry
    method: MethodEntry
    seeded: bool
    reproducible: bool
    claims: Annotated[list[StatedClaim], limits(maxItems=2)]
    values: Annotated[list[ListedValues], limits(minItems=1)] | None
    tables: Annotated[dict[NameText, PublishedTable], limits(minProperties=1)]


class BucketsManifest(_Manifest):
    """Of a release of buckets; the classes below likewise."""

    form: Literal["buckets"]
    parameters: BucketsParameters


class RangesManifest(_Manifest):  # noqa: D101
    form: Literal["ranges"]
    parameters: RangesParameters


class ColumnsManifest(_Manifest):  # noqa: D101
    form: Literal["columns"]
    parameters: ColumnsParameters


class ViewsManifest(_Manifest):  # noqa: D101
    form: Literal["views"]
    parameters: ViewsParameters


class RandomizedManifest(_Manifest):  # noqa: D101
    form: Literal["randomized"]
    parameters: RandomizedParameters


class SyntheticManifest(_Manifest):  # noqa: D101
    form: Literal["synthetic"]
    parameters: SyntheticParameters


ManifestDocument = BucketsManifest | RangesManifest | ColumnsManifest | ViewsManifest | RandomizedManifest | SyntheticManifest
"""What manifest.json holds."""
