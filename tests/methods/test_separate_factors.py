"""Bounds that a person chooses: one publication for each factor, each claim kept beside the other, and counts that add up."""

import numpy as np
import pytest

import sfumato
from sfumato import Boxes, FPrivacy, Schema, Table
from sfumato.table.generators import census

QUASI = ("age", "gender", "education", "marital")


@pytest.fixture(scope="module")
def published():
    frame = census(6_000, 3).select([*QUASI, "occupation"])
    strict = np.random.default_rng(1).random(6_000) < 0.3
    schema = Schema(quasi=QUASI, sensitive=["occupation"])
    made = {}
    for theta, rows in ((2, np.flatnonzero(strict)), (8, np.flatnonzero(~strict))):
        table = Table.from_frame(frame.take(rows), schema)
        made[theta] = table, Boxes().run(table, FPrivacy(theta=theta, offset="0.02"), random=theta)
    return Table.from_frame(frame, schema), made


def test_everybody_is_held_to_the_bound_of_her_own_factor(published):
    _, made = published
    for theta, (table, publication) in made.items():
        assert sfumato.audit(publication.release, table).holds
        beliefs = publication.release.beliefs(table.to_arrow().select(QUASI))
        share = table.sensitive.counts / table.rows
        bound = np.minimum(1, theta * share + 0.02)
        assert (beliefs <= bound[None, :] + 1e-9).all()


def test_whoever_chose_the_laxer_bound_is_told_more_of_and_the_counts_add_up(published):
    whole, made = published
    largest = {
        theta: float(publication.release.beliefs(table.to_arrow().select(QUASI)).max())
        for theta, (table, publication) in made.items()
    }
    assert largest[2] < largest[8]
    values = whole.sensitive.labels
    asked = [f"occupation = {value}" for value in values[:5]]
    for condition, truth in zip(asked, whole.sensitive.counts[:5], strict=True):
        assert sum(publication.release.count(condition).value for _, publication in made.values()) == truth
