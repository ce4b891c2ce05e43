"""Claims of published schemes that are weaker than a bound on what a reader believes, in the words they are made in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ODDS = (
    "Of somebody who knows all other people's records, or takes those that she does not know as independent of this one's, "
    "and whatever she believed of one person's whole record before, the odds for one record against another grow at most "
    "gamma-fold: epsilon-differential privacy of records, among tables of this many people and of the declared domains. "
)

PAPER_CLAIMS = {
    "heterogeneous": (
        "An adversary who knows the overall distribution of the sensitive values and all quasi values observes, for each person, "
        "records that match her, and has equal confidence that each of those be her true match; the people behind each published "
        "record show every value at most as often as its bound allows. This is the claim of heterogeneous generalization "
        "(Gkountouna et al., USENIX Security 2022, Theorems 3 and 7). It speaks of probabilities before values are allotted to "
        "records, and does not bound what a reader believes who has seen them."
    ),
    "ring": (
        "An adversary who knows all quasi values observes, for each person, records that match her, and has equal confidence "
        "that each of those be her true match; the people behind each published record show every value at most as often as its "
        "bound allows. This is the claim of ring generalization (Wong, Mamoulis, Cheung, SIGMOD 2010, with ℓ-diversity). It "
        "speaks of probabilities before values are allotted to records, and does not bound what a reader believes who has seen "
        "them."
    ),
    "ambiguity": (
        "In every group by itself, a stranger to whom all sets of people that fit the group's tables are equally likely believes "
        "that a person whose values the group covers is in it with probability at most alpha, and, if she is in it, that she has "
        "a sensitive value with probability at most that value's bound. This is the claim of Ambiguity (Wang, Journal of "
        "Computer Science and Technology 25(3), 2010, Theorems 1 and 2). It speaks of one group: other groups may cover the same "
        "person, and it does not bound what a reader believes who combines all groups that cover her, nor that whoever is "
        "covered by no group is known to be absent."
    ),
    "priview": (
        "In every group by itself, with its two tables joined by a matching and all matchings equally likely, a row that occurs "
        "once in each table is met with probability at most alpha, and no sensitive value has a larger share of the group than "
        "its bound. This is the claim of PriView (Wang, Journal of Computer Science and Technology 25(3), 2010, Definition 8.1 "
        "and Theorem 6). It does not bound what a reader believes of rows that occur more often, which are met more often, or of "
        "a joined value that occurs once in its group, which tells its sensitive value; nor what one believes who combines all "
        "groups that cover a person."
    ),
    "privbayes": (
        f"{_ODDS}This is the claim of PrivBayes (Zhang et al., ACM TODS 42(4), 2017). It does "
        "not bound what a reader believes: what the people of the table teach about people like her is told, as exactly as noise "
        "lets it."
    ),
    "noisy-tables": (
        f"{_ODDS}This is the claim of counts with two-sided geometric noise (Ghosh et al., STOC "
        "2009), and of whatever is computed from them. It does not bound what a reader believes: what the people of the table "
        "teach about people like her is told, as exactly as noise lets it."
    ),
}
"""By the name of the method; a release states its own as `weaker_claim` among its parameters, and makes no other claim."""

FOREIGN_CLAIM = (
    "No bound on what a reader believes is claimed. What this release promises instead is the word of the package that made it, "
    "and sfumato judges none of that."
)
"""What a release says whose method is another package's, and proves less than a bound on belief."""


def weaker_claim(method: Mapping[str, Any]) -> str | None:
    """Return the words that a release of a method, as its manifest states it, has in place of a bound; None where it has none."""
    return FOREIGN_CLAIM if "package" in method else PAPER_CLAIMS.get(str(method.get("name")))
