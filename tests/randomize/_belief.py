"""What somebody believes who sees a randomized value, by Bayes' rule."""

from fractions import Fraction


def belief(gamma: Fraction, prior: Fraction) -> Fraction:
    """Return the largest posterior of a value with this prior inside the part: γp/(1+(γ−1)p)."""
    return gamma * prior / (1 + (gamma - 1) * prior)
