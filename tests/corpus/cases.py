"""What is published: every method in every form and on every basis, for every kind of secret, against everybody, by seeds."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sfumato as sf
from sfumato.methods import METHODS
from sfumato.privacy import MODELS
from tests.corpus.tables import COLUMNS, EDGES, HALVES, ILLNESSES, JOBS, LATER, bin_labels

AGAINST = ("reader", "engineer", "insider")
SEEDS = (1, 2)

_ILLNESS = dict(zip(ILLNESSES, ("1/5", "1/5", "1/5", "1/10", "1/10", "1/10", "1/20", "1/20"), strict=True))
_BINS = dict(zip(bin_labels(EDGES), ("1/10", "1/5", "1/5", "1/5", "1/5", "1/10"), strict=True))
_BOTH = {f"{job} / {pay}": "1/8" for job in JOBS for pay in bin_labels(HALVES)}
DECLARED: dict[str, dict[str, Any]] = {
    "one": {"shares": _ILLNESS, "otherwise": "Flu"},
    "bins": {"shares": _BINS, "otherwise": "[0, 10)"},
    "combination": {"shares": _BOTH, "otherwise": "clerk / [0, 30)"},
}
EACH_DECLARED = {
    "shares": {"illness": _ILLNESS, "job": dict.fromkeys(JOBS, "1/4")},
    "otherwise": {"illness": "Flu", "job": "clerk"},
}
"""What is declared of secrets where a method asks for it: the shares that are written as … below."""

_ACCEPT = {"accept_weaker_claim": True}

# One entry a form and a basis that a method has: these are asked for every kind of secret, against everybody.
FORMS: dict[str, tuple[dict[str, Any], ...]] = {
    "boxes": ({}, {"form": "ranges"}, {"patience": 0}, {"patience": 0, "form": "ranges"}),
    "near-groups": ({}, {"form": "buckets"}),
    "multi-size": ({}, {"form": "ranges"}),
    "anatomy": ({},),
    "mondrian": ({}, {"form": "buckets"}),
    "burel": ({}, {"form": "buckets"}),
    "noisy-boxes": ({"shares": ...},),
    "small-domain": ({}, {"parameters": "declared", "shares": ...}),
    "uniform": ({}, {"parameters": "declared", "shares": ...}),
    "burel-perturbation": ({}, {"parameters": "declared", "shares": ...}),
    "ambiguity": ({}, {"patience": 0}, {"grouping": "halves"}, {"grouping": "paper", **_ACCEPT}),
    "priview": ({}, {"grouping": "paper", **_ACCEPT}),
    "decoys": ({}, {"guard": True}),
    "heterogeneous": (_ACCEPT,),
    "ring": (_ACCEPT,),
    "privbayes": ({"epsilon": "2", **_ACCEPT},),
    "noisy-tables": ({"epsilon": "2", "noise": "sfumato", **_ACCEPT},),
}

# What else a method may be told: asked once, where it can be kept.
OPTIONS: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "boxes": (
        ("engineer", {"floor": 30}),
        ("engineer", {"weights": {"age": 3}}),
        ("engineer", {"patience": 40, "form": "ranges"}),
        ("reader", {"weights": "association"}),
    ),
    "near-groups": (
        ("engineer", {"floor": 6, "form": "buckets"}),
        ("reader", {"effort": 0.5}),
        ("engineer", {"weights": {"age": 2}}),
    ),
    "multi-size": (
        ("engineer", {"strategy": "one-size"}),
        ("engineer", {"strategy": "two-size"}),
        ("engineer", {"strategy": "two-size", "search": "none"}),
        ("engineer", {"strategy": "two-size", "search": "loss"}),
        ("engineer", {"strategy": "top-down"}),
        ("engineer", {"max_size": 20, "form": "ranges"}),
    ),
    "anatomy": (("engineer", {"l": 5}), ("reader", {"suppress": True})),
    "mondrian": (
        ("reader", {"partition": "relaxed"}),
        ("reader", {"k": 10, "form": "buckets"}),
        ("reader", {"constraint": "distinct", "l": 3}),
        ("reader", {"constraint": "entropy", "l": 2}),
        ("reader", {"constraint": "recursive", "l": 2, "c": "3"}),
        ("reader", {"constraint": "t-closeness", "t": "1/2", "distance": "equal"}),
        ("reader", {"constraint": "t-closeness", "t": "1/2", "distance": "ordered"}),
    ),
    "burel": (
        ("reader", {"packing": "fewest"}),
        ("reader", {"fill": "hilbert"}),
        ("reader", {"candidates": 3, "form": "buckets"}),
    ),
    "noisy-boxes": (
        ("insider", {"shares": ..., "floor": 40}),
        ("insider", {"shares": ..., "merge": False}),
        ("insider", {"shares": ..., "merge": True, "weights": {"age": 2}}),
        ("insider", {"shares": ..., "margins": "0.5"}),
    ),
    "small-domain": (
        ("engineer", {"retention": "uniform"}),
        ("engineer", {"retention": "per-value"}),
        ("engineer", {"order": "paper"}),
        ("engineer", {"amplification": "3"}),
        ("engineer", {"delta": "1/10"}),
    ),
    "uniform": (("engineer", {"amplification": "2"}),),
    "ambiguity": (
        ("engineer", {"floor": 10}),
        ("reader", {"weights": {"age": 3}}),
        ("reader", {"grouping": "paper", "pick": "greedy", **_ACCEPT}),
        ("reader", {"grouping": "paper", "suppress": True, **_ACCEPT}),
    ),
    "priview": (
        ("reader", {"column": "shift"}),
        ("reader", {"grouping": "paper", "pick": "pairs", **_ACCEPT}),
        ("reader", {"grouping": "paper", "suppress": True, **_ACCEPT}),
    ),
    "decoys": (("engineer", {"decoys": 2}), ("reader", {"max_size": 20, "guard": True})),
    "heterogeneous": (
        ("reader", {"packing": "tight", **_ACCEPT}),
        ("reader", {"matcher": "sortgreedy", **_ACCEPT}),
        ("reader", {"matcher": "greedy", "assignment": "pools", **_ACCEPT}),
        ("reader", {"partition": 60, "partitions": "ranks", **_ACCEPT}),
        ("reader", {"partition": 60, "partitions": "separate", **_ACCEPT}),
    ),
    "ring": (
        ("reader", {"l": 5, **_ACCEPT}),
        ("reader", {"partition": "merged", **_ACCEPT}),
        ("reader", {"assignment": "shift", "tries": 5, **_ACCEPT}),
    ),
    "noisy-tables": (("reader", {"epsilon": "2", "noise": "opendp", **_ACCEPT}),),
    "privbayes": (("reader", {"epsilon": "3", "degree": 1, **_ACCEPT}), ("reader", {"epsilon": "3", "theta": "2", **_ACCEPT})),
}

# Models other than the usual one, by a method that keeps each.
MODELLED: dict[str, tuple[tuple[str, str, dict[str, Any]], ...]] = {
    "l": (("boxes", "engineer", {}), ("multi-size", "engineer", {}), ("near-groups", "engineer", {}), ("mondrian", "reader", {}),
          ("heterogeneous", "reader", {"fill": "distant", **_ACCEPT})),
    "beta": (("boxes", "engineer", {}), ("burel", "reader", {}), ("small-domain", "engineer", {}),
             ("burel-perturbation", "engineer", {})),
    "enhanced": (("boxes", "reader", {}), ("burel", "reader", {}), ("privbayes", "reader", {"epsilon": "1", **_ACCEPT})),
    "rho": (("boxes", "engineer", {"form": "ranges"}), ("uniform", "engineer", {}),
            ("uniform", "insider", {"parameters": "declared", "shares": ...})),
    "odds": (("boxes", "engineer", {}), ("boxes", "reader", {"form": "ranges"})),
    "own": (("boxes", "engineer", {}), ("near-groups", "reader", {}), ("multi-size", "engineer", {"form": "ranges"})),
    "near": (("boxes", "engineer", {}), ("boxes", "reader", {"form": "ranges"})),
    "column": (("boxes", "engineer", {}), ("boxes", "reader", {})),
    "differential": (
        ("noisy-boxes", "insider", {"values": ILLNESSES, "otherwise": "Flu"}),
        ("noisy-boxes", "insider", {"values": ILLNESSES, "otherwise": "Flu", "merge": True}),
        ("privbayes", "insider", {}),
    ),
    "visible": (("ambiguity", "engineer", {}), ("priview", "reader", {})),
    "hidden": (("ambiguity", "engineer", {}), ("ambiguity", "reader", {"grouping": "halves"}), ("priview", "reader", {})),
}  # fmt: skip

_SETS = {
    "infectious": {"values": ["Hepatitis", "HIV"], "bound": "1/2"},
    "kind": {
        "map": {one: "lungs" if one in ("Flu", "Cold", "Asthma") else "other" for one in ILLNESSES},
        "theta": "1",
        "offset": "3/10",
    },
}


def _usual(method: str, kind: str, against: str) -> Any:
    """Return what is required of a kind of secret, with a bound on presence where a method hides it or that is the secret."""
    if method == "decoys" and kind not in ("each", "sets", "presence"):
        return sf.LDiversity(2, against=against)
    model: dict[str, Any] = {"theta": 2, "offset": "1/5" if kind in ("combination", "bins") else "3/20", "against": against}
    columns = {"job": sf.LDiversity(2, against=against)} if kind == "each" else None
    sets = _SETS if kind == "sets" else None
    if kind == "visits":
        model |= {"offset": "3/10"}
        columns = {
            "illness": sf.FPrivacy(**model, sets={"infectious": {"values": ["Hepatitis", "HIV"], "theta": 2, "offset": "3/10"}})
        }
    if kind == "presence" or METHODS[method].hides_presence:
        return sf.PresenceAssociation("19/20", sf.FPrivacy(**model), sets=sets, columns=columns, against=against)
    return sf.FPrivacy(**model, sets=sets, columns=columns)


def _named(model: str, against: str) -> Any:
    """Return a requirement by a model other than the usual one."""
    usual = {"theta": 2, "offset": "1/5", "against": against}
    models = {
        "l": lambda: sf.LDiversity(3, against=against),
        "beta": lambda: sf.BetaLikeness(2, against=against),
        "enhanced": lambda: sf.BetaLikeness(2, enhanced=True, against=against),
        "rho": lambda: sf.RhoPrivacy("1/10", "1/3", against=against),
        "odds": lambda: sf.FPrivacy(theta=3, offset="1/10", odds=3, against=against),
        "own": lambda: sf.FPrivacy(offset="2/5", bounds={"HIV": "1/5", "Flu": 1}, against=against),
        "near": lambda: sf.FPrivacy(**usual, sets={"about": {"near": 1, "theta": "1", "offset": "1/4"}}),
        "column": lambda: sf.FPrivacy(**usual, sets={"jobs": {"column": "job", "bound": "4/5"}}),
        "differential": lambda: sf.Differential("1", against=against),
        "visible": lambda: sf.FPrivacy(**usual),
        "hidden": lambda: sf.PresenceAssociation("1/2", sf.FPrivacy(theta=2, offset="1/5"), against=against),
    }
    return models[model]()


_KIND_OF_MODEL = {"near": "bins", "column": "combination", "hidden": "presence", "visible": "presence"}


@dataclass(frozen=True)
class Case:
    """One publication to ask for; its name is its place in the record."""

    method: str
    against: str
    kind: str
    options: Mapping[str, Any] = field(hash=False)
    model: str = "usual"
    seeds: tuple[int, ...] = SEEDS
    whole: bool = True
    """Whether answers, explanations and the whole audit are looked at too, with the first seed; else files and verdicts."""

    @property
    def name(self) -> str:
        told = ",".join(f"{key}={_short(value)}" for key, value in self.options.items() if key != "accept_weaker_claim")
        return " ".join([self.method + (f"[{told}]" if told else ""), self.against, self.kind, *self._other_model])

    @property
    def _other_model(self) -> list[str]:
        return [] if self.model == "usual" else [self.model]

    @property
    def declared(self) -> bool:
        """Whether the domains of columns are declared: synthetic records need that."""
        return self.method in ("privbayes", "noisy-tables")

    def make(self) -> Any:
        """Return the method with its parameters."""
        given = dict(self.options)
        if given.get("shares") is ...:
            apart = self.kind == "each" and self.method == "noisy-boxes"
            given |= EACH_DECLARED if apart else DECLARED.get(self.kind, DECLARED["one"])
        return METHODS[self.method](**given)

    def required(self) -> Any:
        """Return what is required."""
        return _usual(self.method, self.kind, self.against) if self.model == "usual" else _named(self.model, self.against)


def _short(value: Any) -> str:
    if value is ... or isinstance(value, (list, tuple)):
        return "…"
    return "+".join(f"{key}:{one}" for key, one in value.items()) if isinstance(value, Mapping) else str(value)


def _own_kind(method: str) -> str:
    return "presence" if METHODS[method].hides_presence else "one"


def _forms() -> list[Case]:
    """Every form and basis of every method; beyond files and verdicts once a kind of secret, and for every form of three."""
    made = []
    for method, all_forms in FORMS.items():
        for options in all_forms:
            for kind in COLUMNS:
                shown = options == all_forms[0] or kind in (_own_kind(method), "each", "sets")
                made += [_form(method, options, kind, against, shown=shown) for against in AGAINST]
    return made


def _form(method: str, options: Mapping[str, Any], kind: str, against: str, *, shown: bool) -> Case:
    case = Case(method, against, kind, options)
    strongest = against == (case.make().proves() or ("reader",))[-1]
    return replace(case, whole=shown and strongest, seeds=SEEDS if strongest else SEEDS[:1])


def _options() -> list[Case]:
    return [
        Case(method, against, _own_kind(method), options, seeds=SEEDS[:1], whole=False)
        for method, listed in OPTIONS.items()
        for against, options in listed
    ]


def _models() -> list[Case]:
    return [
        Case(method, against, _KIND_OF_MODEL.get(model, "one"), options, model, SEEDS[:1])
        for model, listed in MODELLED.items()
        for method, against, options in listed
    ]


def _later() -> list[Case]:
    """People with several values of a secret."""
    asked = (("engineer", {}), ("engineer", {"patience": 0}), ("reader", {}), ("engineer", {"form": "ranges"}))
    boxes = [Case("boxes", against, kind, options, seeds=SEEDS[:1]) for kind in LATER for against, options in asked]
    return [*boxes, Case("near-groups", "engineer", "columns", {}, seeds=SEEDS[:1])]


CASES: dict[str, Case] = {case.name: case for case in (*_forms(), *_options(), *_models(), *_later())}

FAMILIES: dict[str, tuple[str, ...]] = {
    "boxes": ("boxes", "near-groups"),
    "groups": ("multi-size", "anatomy", "mondrian", "burel", "decoys"),
    "papers": ("ambiguity", "priview", "heterogeneous", "ring"),
    "drawn": ("noisy-boxes", "small-domain", "uniform", "burel-perturbation", "privbayes"),
    "tables": ("noisy-tables",),
}
"""The methods of each recorded file. Noisy tables are fitted by a library that may be missing, and stand apart."""


def family(name: str) -> dict[str, Case]:
    """Return the cases of a recorded file."""
    return {key: case for key, case in CASES.items() if case.method in FAMILIES[name]}


def own_models() -> set[str]:
    """Return the models that some case asks for."""
    return {case.required().model for case in CASES.values()} & set(MODELS)
