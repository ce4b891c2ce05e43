"""The form of a release (buckets, ranges, …) and what follows from it, whichever method made it. Each room has a file a form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

FormName = Literal["buckets", "ranges", "columns", "views", "randomized", "synthetic"]
"""How manifests spell a form."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """What a form shows. A manifest has its name, `FORMS` the object.

    `group` is what a group is called, in words and as the column of its number; empty where there are none.
    """

    name: FormName
    group: str = ""
    exact_quasi: bool = False
    """Whether everybody has a row with her own quasi values, so that who knows these finds it."""
    as_ranges: bool = False
    """Whether quasi values are shown as the ranges and value sets of a group."""
    by_coin: bool = False
    """Whether every row has a sensitive value that a coin may have replaced."""
    of_people: bool = True
    """Whether rows are those of people: synthetic records are nobody's."""
    by_matchings: bool = False
    """Whether a group is read as all matchings of the rows of two tables. Against an engineer nothing is known of that."""
    weaker_claims: bool = False
    """Whether groups may be as a paper publishes them, with its weaker claim: the audit knows what that comes to."""
    equally_likely: str = ""
    """What is equally likely to a stranger against whom presence is claimed to be hidden; empty where it is not hidden."""

    @property
    def has_groups(self) -> bool:
        """Whether people share groups, of which the tables show how often each sensitive value occurs."""
        return bool(self.group)

    @property
    def groups(self) -> str:
        """What groups are called."""
        return f"{self.group}s"

    @property
    def hides_presence(self) -> bool:
        """Whether a release may claim that it hides who is in the table."""
        return bool(self.equally_likely)


FORMS: dict[str, Form] = {
    one.name: one
    for one in (
        Form(name="buckets", group="bucket", exact_quasi=True),
        Form(name="ranges", group="group", as_ranges=True, weaker_claims=True),
        Form(name="columns", group="group", weaker_claims=True, equally_likely="all tables that fit the release"),
        Form(
            name="views",
            group="group",
            weaker_claims=True,
            by_matchings=True,
            equally_likely="all matchings of a group's rows of at with its rows of st, in every group by itself,",
        ),
        Form(name="randomized", exact_quasi=True, by_coin=True),
        Form(name="synthetic", of_people=False),
    )
}
"""Every form by its name. What a form decides is said here, or by the file of a form in each room."""

assert set(FORMS) == set(get_args(FormName))
