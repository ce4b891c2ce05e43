"""Claims of published schemes that are weaker than a bound on what a reader believes, in the words they are made in."""

from __future__ import annotations

WEAKER_CLAIMS = {
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
}
"""By the name of the method; a release states its own as `weaker_claim` among its parameters, and makes no other claim."""
