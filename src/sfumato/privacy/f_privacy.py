"""F'-privacy: any bound for any value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar

from sfumato.errors import PolicyError, did_you_mean
from sfumato.exact import Number, exact
from sfumato.parameters import Takes, parameter, rational
from sfumato.privacy.growth import allowed
from sfumato.privacy.requirement import Against, Requirement, round_up


def _own_bounds(where: str, value: Any) -> Mapping[str, Fraction]:
    if not isinstance(value, Mapping):
        raise PolicyError(f"FPrivacy(bounds=…): expected value = bound pairs, got {value!r}", hint='{"HIV": "0.02"}')
    own = {str(name): exact(limit, f"bounds[{name!r}]") for name, limit in value.items()}
    for name, limit in own.items():
        if not 0 < limit <= 1:
            raise PolicyError(
                f"FPrivacy(bounds=…): the bound of {name!r} must lie above 0 and at most 1, got {limit}",
                hint="1 means that the value is not sensitive; nothing can be bounded by 0",
            )
    return MappingProxyType(own)


_BOUNDS = Takes(_own_bounds, {"type": "object", "additionalProperties": rational("", above=0, most=1).schema})


@dataclass(frozen=True, init=False)
class FPrivacy(Requirement):
    """bound(x) = min(1, theta·f(x) + offset), and whatever `bounds` sets for single values ([F' §3.2], Definition 2).

    `theta=0` gives the same constant bound to every value; a bound of 1 says that a value is not sensitive. `odds` bounds what
    frequent values may become, which the paper leaves to theta alone: no bound exceeds the belief at so many times the odds of
    f(x), or one half where that is more.

    >>> from fractions import Fraction
    >>> rule = FPrivacy(theta=8, offset="0.02", odds=8)
    >>> rule.limits({"rare": Fraction(1, 100), "tenth": Fraction(1, 10), "half": Fraction(1, 2)})
    {'rare': Fraction(1, 10), 'tenth': Fraction(1, 2), 'half': Fraction(8, 9)}
    """

    theta: Fraction = parameter(0, rational("a number from 0 on", least=0))
    offset: Fraction = parameter(0, rational("a number from 0 to 1", least=0, most=1))
    odds: Fraction | None = parameter(None, rational("a number from 1 on", least=1))
    own_bounds: Mapping[str, Fraction] = parameter(None, _BOUNDS, called="bounds")
    """`bounds` as given: the name is taken by what every requirement returns."""

    model: ClassVar[str] = "f-privacy"

    def __init__(
        self,
        *,
        theta: Number = 0,
        offset: Number = 0,
        odds: Number | None = None,
        bounds: Mapping[str, Number] | None = None,
        sets: Mapping[str, Any] | None = None,
        columns: Mapping[str, Requirement] | None = None,
        against: Against = "engineer",
    ) -> None:
        own = {} if bounds is None else bounds
        self._set(theta=theta, offset=offset, odds=odds, own_bounds=own, sets=sets, columns=columns, against=against)
        if self.theta == 0 and self.offset == 0:
            raise PolicyError(
                "FPrivacy(theta=0, offset=0) would bound every belief by 0", hint='set theta and offset, such as 8 and "0.02"'
            )

    def __hash__(self) -> int:
        return hash((self.against, self.theta, self.offset, self.odds, tuple(sorted(self.own_bounds.items())), self.sets))

    def limits(self, shares: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return what the rule allows each share, or the value's own bound; a bound for a value nobody has is an error."""
        for value in self.own_bounds:
            if value not in shares:
                raise PolicyError(
                    f"[requirement.bounds] {value!r}: the table has no such sensitive value", hint=did_you_mean(value, shares)
                )
        rule = self.theta, self.offset, self.odds
        return {value: self.own_bounds.get(value, allowed(share, *rule)) for value, share in shares.items()}

    def nearest(self, shares: Mapping[str, Fraction]) -> dict[str, object]:
        """Return the smallest offset, and the smallest own bounds, that no share exceeds; no share exceeds the bound by odds."""
        rest = [share - self.theta * share for value, share in shares.items() if value not in self.own_bounds]
        needed = max([self.offset, *rest])
        result: dict[str, object] = {}
        if needed > self.offset:
            result["offset"] = round_up(needed)
        own = {
            value: round_up(shares[value])
            for value, limit in self.own_bounds.items()
            if value in shares and limit < shares[value]
        }
        if own:
            result["bounds"] = own
        return result

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters under the names of the policy file."""
        document = super().to_dict()
        if self.odds is None:
            del document["odds"]
        document["bounds"] = document.pop("own_bounds")
        return document
