"""Rules that a manifest keeps: what it says of form, method, basis, requirement and parameters is of one publication.

What nothing else fixes could leak information. A rule has a name and one sentence, and says by what it is broken; so does whoever
refuses a release. By the time they are asked, the manifest has the shape of its schema (`release/shape.py`), so that method,
form and basis are words that are safe to show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sfumato.errors import FormatError
from sfumato.release.programs import FOREIGN, PROGRAMS, program_of
from sfumato.release.weights import weight_fault

if TYPE_CHECKING:
    from sfumato.release.manifest import Manifest


@dataclass(frozen=True)
class Rule:
    """One rule: `broken` returns by what a manifest breaks it, empty where it keeps it."""

    name: str
    sentence: str
    broken: Callable[[Manifest], str]

    def fault(self, manifest: Manifest) -> str | None:
        """Return that the manifest breaks the rule, and by what; None where it keeps it."""
        cause = self.broken(manifest)
        return f"manifest.json: {cause}; {self.sentence} (rule {self.name})" if cause else None


def inconsistencies(manifest: Manifest) -> list[str]:
    """Return a sentence for every rule that the manifest breaks."""
    return [fault for rule in RULES if (fault := rule.fault(manifest)) is not None]


def _method_known(manifest: Manifest) -> str:
    name = _quoted(manifest.method)
    if program_of(manifest.method) is not None:
        return ""
    if "package" in manifest.method:
        return f"the method {name} of another package has the name of a method of sfumato"
    return f"sfumato has no method {name}"


def _form_made(manifest: Manifest) -> str:
    program = program_of(manifest.method)
    if program is None or manifest.form in program.forms:
        return ""
    return f"the method {_quoted(manifest.method)} does not make the form {manifest.form!r}"


def _form_asked(manifest: Manifest) -> str:
    asked = manifest.method.get("form", manifest.form)
    return "" if asked == manifest.form else f"the method was asked for {asked!r}, and the form is {manifest.form!r}"


def _basis_fits(manifest: Manifest) -> str:
    program, method, against = program_of(manifest.method), manifest.method, _against(manifest)
    if program is None:
        return ""
    if program is FOREIGN:
        fits = not manifest.rests_on.noisy and (manifest.basis is not None) == manifest.shown_as.has_groups
        fits &= not manifest.rests_on.as_published or manifest.shown_as.weaker_claims
        return "" if fits else f"a method of another package cannot state the basis {manifest.basis!r}"
    made = program.basis(method, against)
    if manifest.basis == made:
        return ""
    return f"the basis is {manifest.basis!r}, and {_quoted(method)} with these parameters against {against!r} has {made!r}"


def _decoys_agree(manifest: Manifest) -> str:
    said, asked = manifest.parameters.get("decoys", 0), manifest.method.get("decoys", 0)
    return "" if said == asked else f"parameters.decoys is {said}, and the method has {asked}"


def _suppression_asked(manifest: Manifest) -> str:
    left_out = manifest.parameters.get("suppression") and manifest.method.get("suppress") is not True
    return "parameters.suppression is stated, but the method does not suppress" if left_out else ""


def _weaker_claim_stated(manifest: Manifest) -> str:
    program, needed = program_of(manifest.method), set()
    if manifest.rests_on.as_published or not manifest.shown_as.of_people:
        needed = {"weaker_claim", *(program.own_parameters if program is not None else ())}
        needed |= {"matches"} if program is FOREIGN and manifest.shown_as.as_ranges else set()
    return _other_keys(manifest, needed, {"weaker_claim", "matches", "dummies"})


def _growth_stated(manifest: Manifest) -> str:
    needed = {"gamma"} if not manifest.shown_as.of_people else {"gamma", "ratio"} if manifest.rests_on.noisy else set()
    if manifest.rests_on.noisy:
        asked, said = manifest.method.get("margins"), manifest.parameters
        needed |= {"margins_from"} if asked is None else set() if asked == "0" else {"margins"}
        if asked is None and "margins" in said:  # the rule decides by the number of people, and an audit asks it
            needed |= {"margins"}
    return _other_keys(manifest, needed, {"gamma", "ratio", "margins", "margins_from"})


def _noise_named(manifest: Manifest) -> str:
    program, said = program_of(manifest.method), manifest.parameters.get("noise")
    if program is None or not program.names_noise:
        return "" if said is None else "parameters.noise is stated, but the method does not say who draws noise"
    if said is None:
        return "parameters.noise is missing"
    asked = manifest.method.get("noise")
    if asked not in (None, said):
        return f"parameters.noise is {said!r}, and the method asked for {asked!r}"
    return "the manifest is seeded, but OpenDP's noise cannot be seeded" if said == "opendp" and manifest.seeded else ""


def _note_fits(manifest: Manifest) -> str:
    program, said = program_of(manifest.method), manifest.parameters.get("note")
    fits = said is None or (program is not None and said == program.note(manifest.method))
    return "" if fits else "parameters.note is not the fixed note of this method"


def _values_listed(manifest: Manifest) -> str:
    public = manifest.parameters
    hidden = not manifest.shown_as.has_groups or manifest.rests_on.noisy
    hidden = bool(hidden or public.get("decoys") or public.get("suppression"))
    if (manifest.values is None) == hidden:
        return ""
    return "values are listed, but the tables do not show their counts" if hidden else "values are not listed"


def _seed_stated(manifest: Manifest) -> str:
    return "" if manifest.seeded or not manifest.reproducible else "the release is reproducible but not seeded"


def _sets_kept(manifest: Manifest) -> str:
    own = manifest.requirement.get("columns", {}).values()
    if not any("sets" in stated for stated in (manifest.requirement, *own)):
        return "sets are listed, but the requirement has none" if manifest.sets else ""
    program = program_of(manifest.method)
    if "sets" in manifest.requirement and program is not None and not program.keeps_sets(manifest.method, _against(manifest)):
        return f"the requirement has sets, but the method {_quoted(manifest.method)} keeps no bounds on sets"
    if bool(manifest.sets) == (manifest.values is not None):
        return ""
    return "sets are listed without values" if manifest.sets else "the sets of the requirement are not listed"


def _columns_kept(manifest: Manifest) -> str:
    """Return why columns cannot have requirements of their own here, or be protected each by itself."""
    asked, own = manifest.requirement, manifest.requirement.get("columns", {})
    if len(manifest.secrets) == 1:
        return "columns have requirements of their own, but are not each protected by itself" if own else ""
    program = program_of(manifest.method)
    if program is not None and not program.keeps_each(manifest.method, _against(manifest)):
        return f"the method {_quoted(manifest.method)} does not protect each of several columns by itself"
    if "sets" in asked:
        return "the requirement has sets for columns that are protected each by itself"
    if not set(manifest.secrets).issuperset(own):
        return "a column with a requirement of its own is not sensitive"
    if any("columns" in stated or stated.get("model") == "presence-association" for stated in own.values()):
        return "the requirement of a column bounds presence, or has columns itself"
    if any(stated.get("against") != asked.get("against") for stated in own.values()):
        return "the requirement of a column names another adversary"
    return ""


def _bundles_made(manifest: Manifest) -> str:
    """Return why people cannot have several values of a secret here."""
    declared = manifest.schema.get("declared", {})
    if not manifest.bundled:
        return "a person has all her rows, but the secrets are not stated" if "people" in declared else ""
    if manifest.by_band and (manifest.rests_on.noisy or manifest.alike not in ("band", "number")):
        return "bounds follow from the shares of bands, but the release has no bands with known shares"
    if manifest.rests_on.noisy and (fault := _noise_counts(manifest)):
        return fault
    if sorted(declared["secrets"]) != sorted(declared["sensitive"]):  # a manifest sorts names
        return "the secrets are not the sensitive columns"
    program = program_of(manifest.method)
    if program is None or manifest.form not in program.bundles:
        return f"the method {_quoted(manifest.method)} gives everybody one value in the form {manifest.form!r}"
    return ""


def _noise_counts(manifest: Manifest) -> str:
    """Return why noise cannot hide what a person has."""
    if manifest.counted < len(manifest.secrets):
        return "the largest number of values counted per person is missing"
    own = manifest.requirement.get("columns", {}).values()
    if any("sets" in rule for rule in (manifest.requirement, *own)):
        return "the requirement has sets, which noisy counts of people with several values cannot show"
    return (
        "shares are declared, but people may have several values, so that has is needed"
        if manifest.method.get("shares") is not None
        else ""
    )


RULES = (
    Rule("method", f"sfumato's methods are {', '.join(PROGRAMS)}", _method_known),
    Rule("form", "a release has a form that its method makes", _form_made),
    Rule("form-asked", "a release has the form that its method was asked for", _form_asked),
    Rule("basis", "the basis of groups follows from the method, its parameters and the adversary", _basis_fits),
    Rule("decoys", "a release has as many decoys as its method adds", _decoys_agree),
    Rule("suppression", "people are suppressed only where the method allows it", _suppression_asked),
    Rule("weaker-claim", "groups as published and synthetic records state a weaker claim with its figures", _weaker_claim_stated),
    Rule("growth", "releases with noise, and only these, state by how much odds may grow", _growth_stated),
    Rule("noise", "the source of noise is stated where the method has a choice, as the method asked", _noise_named),
    Rule("note", "a method whose bounds are all 1 states in a fixed note that it makes no claim", _note_fits),
    Rule("values", "values are listed where, and only where, the tables show the counts of everybody", _values_listed),
    Rule("seed", "only a seeded release is reproducible", _seed_stated),
    Rule("sets", "sets are bounded by methods that keep such bounds, and listed where values are", _sets_kept),
    Rule("columns", "each of several columns is protected by methods that can, against one adversary", _columns_kept),
    Rule("weight", "a weight is published in bins of enough people, beside claims that allow for how it was made", weight_fault),
    Rule("bundles", "people have several values of a secret only where the method counts what they have", _bundles_made),
)
"""All that a manifest's statements have to keep, in the order in which faults are told."""


def _quoted(method: Mapping[str, Any]) -> str:
    return repr(str(method.get("name")))


def _against(manifest: Manifest) -> str:
    return str(manifest.requirement.get("against"))


def _other_keys(manifest: Manifest, needed: Iterable[str], among: set[str]) -> str:
    """Return which of some public parameters are missing, or stated without need."""
    said, wanted = among.intersection(manifest.parameters), set(needed)
    missing = [f"parameters.{key} is missing" for key in sorted(wanted - said)]
    return ", ".join([*missing, *(f"parameters.{key} must not be stated" for key in sorted(said - wanted))])


def require_numbers(requirement: Mapping[str, Any], where: str = "requirement") -> None:
    """Raise `FormatError` where numbers of a requirement each lie in their range and cannot be combined."""
    model = requirement["model"]
    if model == "rho-privacy" and not Fraction(requirement["rho1"]) < Fraction(requirement["rho2"]):
        raise FormatError(f"manifest.json: {where}.rho2 is not above rho1")
    if model == "differential" and (requirement["epsilon"] is None) == (requirement["odds"] is None):
        raise FormatError(f"manifest.json: {where} does not have one of epsilon and odds")
    for rule in requirement.get("sets", {}).values():
        if rule.get("theta") == rule.get("offset") == "0":
            raise FormatError(f"manifest.json: {where}.sets has theta and offset 0, which is no bound")
    if isinstance(requirement.get("beta"), Mapping):
        require_numbers(requirement["beta"], f"{where}.beta")
    for own in requirement.get("columns", {}).values():
        require_numbers(own, f"{where}.columns")
