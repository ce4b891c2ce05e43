"""The upper end of few people: as far as boxes allow, found again by a plain loop; and a planted link no prior believes."""

import math

import numpy as np
import pytest

import sfumato as sf
from sfumato.query.models.reach import DROP, STEP, STEPS, AskedBoxes, reach


def boxes(hits, sizes, shown, expected, noise=0.0, rest=(0.0, 0.0)):
    hits, sizes, shown, expected = (np.array(one, float) for one in (hits, sizes, shown, expected))
    return AskedBoxes(hits, sizes, shown, np.maximum(shown, 0.01), expected, np.full(len(hits), noise), *rest)


def likelihood(found, one, step):
    """The log-likelihood of the counts, box by box, where odds are exp(step) times those of the estimate."""
    lift = found / sum(c * h / n for c, h, n in zip(one.believed, one.hits, one.sizes, strict=True))
    every = []
    for h, n, e in zip(one.hits, one.sizes, one.expected, strict=True):
        every.append(max(e - min(h, lift * e * h / n), 1e-9) + min(h, lift * math.exp(step) * e * h / n))
    scale = (sum(one.expected) + one.rest_expected) / (sum(every) + one.rest_expected)
    if one.noise.any():
        terms = zip(one.shown, every, one.noise, strict=True)
        return sum(-0.5 * (c - e * scale) ** 2 / (e * scale + s) for c, e, s in terms)
    terms = zip(one.shown, every, strict=True)
    return sum(c * math.log(e * scale) for c, e in terms) + one.rest_shown * math.log(scale)


@pytest.mark.parametrize("noise", [0.0, 4.0])
def test_the_likelihood_has_fallen_by_as_much_as_an_interval_allows(noise):
    coins = np.random.default_rng(3)
    met = 0
    for _ in range(40):
        hits = coins.integers(1, 30, 12)
        one = boxes(hits, hits + coins.integers(2, 90, 12), coins.poisson(9, 12), coins.uniform(6, 12, 12), noise, (50.0, 55.0))
        found = float(one.believed @ (one.hits / one.sizes))
        most = reach(found, one, 1.0)
        part = one.hits / one.sizes

        def people(step, one=one, part=part):
            lift = math.exp(step)
            return float(np.minimum(one.hits, one.believed * lift * part / (1 + (lift - 1) * part)).sum())

        steps = np.arange(STEPS) * STEP
        logs = [likelihood(found, one, step) for step in steps]
        below = [k for k in range(STEPS) if logs[k] < max(logs[: k + 1]) - DROP]
        if not below:
            assert most == pytest.approx(float(np.minimum(one.hits, one.believed).sum()))
            continue
        met += 1
        assert people(steps[below[0] - 1]) - 1e-9 <= most <= people(steps[below[0]]) + 1e-9
    assert met > 5


def test_boxes_that_tell_those_asked_leave_little_open_and_others_nearly_everything():
    apart = boxes([40, 1, 1, 1], [40, 50, 50, 50], [6, 3, 4, 5], [6, 3, 4, 5])
    mixed = boxes([10, 11, 11, 11], [50, 45, 50, 45], [4, 5, 4, 5], [4.5, 4.5, 4.5, 4.5])
    assert reach(6.0, apart, 1.0) < 14.0
    assert reach(4.0, mixed, 1.0) > 17.0
    assert reach(6.0, apart, 4.0) > reach(6.0, apart, 1.0)


def planted(seed):
    """3,000 people, of whom 24 live on an island; most of them have what one in two hundred of the others has."""
    coins = np.random.default_rng(seed)
    rows = 3000
    columns = {
        "age": coins.integers(20, 80, rows),
        "sex": coins.choice(["f", "m"], rows),
        "school": coins.choice(list("abcde"), rows),
        "place": coins.choice(["town", "village", "hill"], rows, p=[0.6, 0.3, 0.1]).astype(object),
        "illness": coins.choice([f"v{k}" for k in range(12)], rows).astype(object),
    }
    columns["illness"][coins.permutation(rows)[:15]] = "rare"
    island = coins.permutation(rows)[:24]
    columns["place"][island] = "island"
    columns["illness"][island[:14]] = "rare"
    return {name: column.tolist() for name, column in columns.items()}


@pytest.mark.parametrize("method", ["soft", "noisy"])
def test_an_interval_reaches_a_link_that_boxes_do_not_rule_out(method):
    import pandas as pd

    people = pd.DataFrame(planted(1))
    rule = sf.FPrivacy(theta=8, offset="0.02", against="insider" if method == "noisy" else "engineer")
    shares = people["illness"].value_counts().to_dict()
    way = sf.NoisyBoxes(shares=shares, otherwise="v0") if method == "noisy" else sf.Boxes()
    quasi = ["age", "sex", "school", "place"]
    made = sf.publish(people, rule, method=way, quasi=quasi, sensitive="illness", random=5)
    truth = int(((people["place"] == "island") & (people["illness"] == "rare")).sum())
    one = made.count("place = 'island' AND illness = 'rare'")
    assert one.value < truth / 2
    assert one.high is not None
    assert one.low <= truth <= one.high
    many = made.count("place = 'town' AND illness = 'v1' AND school = 'a'")
    assert many.value > 20
    assert many.high - many.value < 1.5 * (many.value - many.low)
