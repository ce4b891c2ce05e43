"""The JSON Schema of policies, by which editors complete and check `policy.toml` while it is written.

Sections are typed here; what a model or a method takes follows from its declared parameters (`sfumato.parameters`), those of
installed packages too. It says what can be said of one key at a time: `sfumato policy check` says the rest.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict, get_args

from sfumato.methods import METHODS, Ambiguity, Boxes, Method, NoisyBoxes
from sfumato.parameters import needed, taken
from sfumato.privacy import MODELS, Requirement
from sfumato.schemas import Json, any_of, limits, object_of, schema_of
from sfumato.table.column import Kind
from sfumato.table.schema import MissingRule, Protect
from sfumato.table.secrets import MOST_PEOPLE

PolicyNumber = float | Annotated[str, limits(pattern="^.*[0-9].*$")]
"""A number, or one in quotes that is taken as written."""
PolicyPlace = float | str
"""A number or a date."""
Texts = list[str]


class InputSection(TypedDict, total=False):
    """How the table is read."""

    delimiter: str
    decimal: Literal[".", ","]
    encoding: str
    null: Texts
    header: bool
    names: Texts
    sheet: str
    rename: bool
    one_row_per_person: bool


ShownRow = Annotated[str, limits(pattern="^ *(first|last|least|greatest) by .+$")]
"""The row of a person whose quasi values are shown."""


Most = Annotated[int, limits(minimum=1)] | dict[str, Annotated[int, limits(minimum=1)]]
"""Of how many values of a secret somebody is counted where counts have noise."""


class PeopleSection(TypedDict, total=False):
    """Who a row is."""

    key: str | Texts
    keep: Annotated[str, limits(pattern="^ *(error|all|(first|last) by .+)$")]
    rows: Literal["people"]
    quasi: ShownRow | dict[str, ShownRow | Literal["least", "greatest"]]
    alike: Literal["rows", "exact"] | list[Annotated[int, limits(minimum=2)]]
    shares: Literal["table", "band"]
    without_key: Literal["error", "drop"]
    most: Most


class UnitSection(TypedDict, total=False):
    """What is published in place of people."""

    household: str | Texts
    quasi: ShownRow | dict[str, ShownRow | Literal["least", "greatest"]]
    alike: Literal["sizes", "exact"] | list[Annotated[int, limits(minimum=2)]]
    shares: Literal["table", "band"]
    without_key: Literal["error", "drop"]
    most: Most


class ColumnsSection(TypedDict, total=False):
    """The role of every column."""

    identifier: Texts
    quasi: Texts
    sensitive: Texts
    other: Texts
    allow_unique: Texts


class WeightSection(TypedDict):
    """The weight of a survey."""

    column: str
    made_without_secrets: NotRequired[bool]
    bins: NotRequired[Literal["1-2-5"] | Annotated[list[PolicyNumber | Literal["inf"]], limits(minItems=2)]]
    values: NotRequired[Literal["mean", "middle"] | Annotated[list[PolicyNumber], limits(minItems=1)]]
    floor: NotRequired[Annotated[int, limits(minimum=2)]]
    strata: NotRequired[str]
    cluster: NotRequired[str]
    from_table: NotRequired[bool]


class RecodeRule(TypedDict, total=False):
    """How a column is made coarser: keys of one recoding."""

    width: PolicyNumber
    top: PolicyNumber
    bottom: PolicyNumber
    origin: PolicyNumber
    round: PolicyNumber
    prefix: Annotated[int, limits(minimum=1)]
    to: Literal["day", "week", "month", "quarter", "year"]
    icd: Literal[9, 10]
    map: dict[str, str]
    other: str
    hierarchy: str
    level: int


PolicyEdges = Annotated[list[PolicyNumber | Literal["inf", "-inf"]], limits(minItems=2)]

BinsRule = TypedDict(  # a call, since one key is a word of Python
    "BinsRule",
    {
        "edges": PolicyEdges,
        "labels": Texts,
        "clip": bool,
        "width": PolicyNumber,
        "from": PolicyNumber,
        "to": PolicyNumber,
        "people": Annotated[int, limits(minimum=2)],
    },
    total=False,
)
"""Numbers that count as one value."""


class DomainRange(TypedDict):
    """The numbers or dates that somebody may have."""

    min: PolicyPlace
    max: PolicyPlace


class SetRuleEntry(TypedDict, total=False):
    """Values that are bounded together: which ones, and by what."""

    values: Annotated[Texts, limits(minItems=1, uniqueItems=True)]
    map: dict[str, str]
    hierarchy: str
    level: int
    near: Annotated[int, limits(minimum=1, maximum=1000)]
    column: str
    bound: PolicyNumber
    theta: PolicyNumber
    offset: PolicyNumber
    odds: PolicyNumber


class BudgetSection(TypedDict):
    """How much all draws of noise of the same people may tell together."""

    epsilon: PolicyNumber
    key: NotRequired[str | Texts]


class PopulationSection(TypedDict):
    """How many people the table is a random sample of, for estimates of who is found among them."""

    people: Annotated[int, limits(minimum=1, maximum=MOST_PEOPLE)]


class ReceiptSection(TypedDict, total=False):
    """What a receipt adds to the policy that it keeps."""

    coins: str
    hierarchies: dict[str, str]


RequirementSection = Annotated[Any, limits(**{"$ref": "#/definitions/Requirement"})]
MethodSection = Annotated[Any, limits(**{"$ref": "#/definitions/Method"})]
"""What follows from the declared parameters of models and methods."""


class PolicyDocument(TypedDict):
    """The sections of a policy."""

    reviewed: NotRequired[bool]
    input: NotRequired[InputSection]
    people: NotRequired[PeopleSection]
    unit: NotRequired[UnitSection]
    columns: ColumnsSection
    secrets: NotRequired[dict[str, str | Annotated[Texts, limits(minItems=1, uniqueItems=True)]]]
    weight: NotRequired[WeightSection]
    types: NotRequired[dict[str, Kind]]
    recode: NotRequired[dict[str, RecodeRule]]
    bins: NotRequired[dict[str, PolicyEdges | BinsRule]]
    domains: NotRequired[dict[str, Annotated[list[PolicyPlace | bool], limits(minItems=1)] | DomainRange]]
    missing: NotRequired[dict[str, MissingRule]]
    requirement: RequirementSection
    method: NotRequired[MethodSection]
    budget: NotRequired[BudgetSection]
    population: NotRequired[PopulationSection]
    receipt: NotRequired[ReceiptSection]


UNNAMED: tuple[type[Method], ...] = (Boxes, NoisyBoxes, Ambiguity)
"""The methods that a policy may mean by options alone: which one, the requirement says."""


def policy_schema() -> Json:
    """Return the JSON Schema of `policy.toml`, for the models and methods that are installed."""
    whole = schema_of(
        PolicyDocument,
        title="A policy of sfumato",
        description="How a table is read, what is promised, and by which method (docs/policy.md).",
    )
    models = list(MODELS.values())
    definitions = whole["definitions"] | {
        "SetRuleEntry": schema_of(SetRuleEntry, title="", description="")["definitions"]["SetRuleEntry"],
        "Requirement": any_of([_model(model, protect=True) for model in models]),
        "Model": any_of([_model(model, without=("columns",)) for model in models]),
        "ColumnRequirement": any_of(
            [_model(model, without=("columns",)) for model in models]
            + [_model(model, without=("columns", "model")) for model in models]
        ),
        "Method": any_of([_method(method) for method in METHODS.values()] + [_method(method, named=False) for method in UNNAMED]),
    }
    return {**whole, "definitions": definitions}


def _model(cls: type[Requirement], *, without: tuple[str, ...] = (), protect: bool = False) -> Json:
    """Return what [requirement] holds for a model; without its name, what a column changes of it."""
    properties = {"model": {"const": cls.model}, **taken(cls)}
    if protect:
        properties["protect"] = {"enum": list(get_args(Protect))}
    kept = {key: schema for key, schema in properties.items() if key not in without}
    return object_of(kept, ["model", *needed(cls)] if "model" in kept else [], description=_about(cls))


def _method(cls: type[Method], *, named: bool = True) -> Json:
    """Return what [method] holds for a method; `named` says whether it has to have its name."""
    name: Json = {"name": {"const": cls.name}} if named else {}
    required = [*(["name"] if named else []), *needed(cls)]
    return object_of({**name, **taken(cls)}, required, description=_about(cls))


def _about(cls: type) -> str:
    return (cls.__doc__ or "").strip().partition("\n")[0]
