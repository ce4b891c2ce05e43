"""A bound as a picture of people: of 1,000 like her, so many have a value, and of so many a reader may come to believe it."""

from __future__ import annotations

from fractions import Fraction

from sfumato.charts.svg import colour

MANY, ACROSS = 1_000, 50
STEP, RADIUS = 14, 4.6


def people_words(value: str, share: Fraction, bound: Fraction) -> str:
    """Return what the picture shows."""
    now = f"Of 1,000 people {_so_many(share)} {'has' if share * MANY == 1 else 'have'} {value}, in this table."
    if bound == 1:
        return f"{now} There is no bound: a reader may become certain of every one of them."
    return f"{now} Of 1,000 people of whom a reader is as sure as she may become, at most {_so_many(bound)} have it."


def people_svg(value: str, share: Fraction, bound: Fraction) -> str:
    """Return a dot a person: filled who has the value, ringed who is added by what a reader may believe at most."""
    have, believed = (min(MANY, round(part * MANY)) for part in (share, bound))
    looks = (
        (have, f'fill="{colour("ink")}"'),
        (max(0, believed - have), f'fill="{colour(1)}" fill-opacity=".35" stroke="{colour(1)}" stroke-width="1.6"'),
        (MANY - max(have, believed), f'fill="{colour("line")}"'),
    )
    dots, place = [], 0
    for many, look in looks:
        for number in range(place, place + many):
            x, y = STEP * (number % ACROSS) + STEP / 2, STEP * (number // ACROSS) + STEP / 2
            dots.append(f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}" {look}/>')
        place += many
    size = f'viewBox="0 0 {STEP * ACROSS} {STEP * MANY // ACROSS}" style="width: 100%; max-width: {STEP * ACROSS}px"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" aria-hidden="true" {size}>{"".join(dots)}</svg>'


def _so_many(part: Fraction) -> str:
    """Return how many of 1,000: "3", "fewer than 1"."""
    many = part * MANY
    return "fewer than 1" if 0 < many < 1 else f"{round(many):,}"
