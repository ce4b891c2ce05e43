"""The visits of a hospital's patients, made up: several rows a patient, with up to three diagnoses each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers
from sfumato.table.generators import _patients as patients
from sfumato.table.generators._diagnoses import DIAGNOSES, WARDS
from sfumato.table.generators._draw import check_size, draw

COLUMNS = ("patient", "admitted", "age", "sex", "postcode", "ward", "insurance", "diag_1", "diag_2", "diag_3")

_MOST_VISITS = 24
_MOST_LASTING = 3
_NONE = -1
_LASTING = (
    "Hypertension",
    "Heart failure",
    "Atrial fibrillation",
    "Type 2 diabetes",
    "Hip or knee arthrosis",
    "Asthma",
    "Chronic obstructive lung disease",
    "Depression",
    "Alcohol dependence",
    "Breast cancer",
    "Prostate cancer",
    "Epilepsy",
    "Sleep apnoea",
    "Kidney failure",
    "Schizophrenia",
    "Dementia",
    "Crohn's disease",
    "Psoriasis",
    "Bipolar disorder",
    "Opioid dependence",
    "Parkinson's disease",
    "Multiple sclerosis",
    "Hepatitis C",
    "HIV",
)


def encounters(people: int = 20_000, seed: int = 0) -> pa.Table:
    """Return the visits of so many patients: patient, admitted, age, sex, postcode, ward, insurance, diag_1, diag_2, diag_3.

    Everybody has up to three lasting illnesses, by age and sex, and comes the more often the more of them she has. `diag_1` is
    one of these or something new, as in `hospital`; `diag_2` and `diag_3` are others of hers, or empty. The visits are in order
    of time.
    """
    check_size(people, seed)
    random = np.random.default_rng([seed, 5])
    everybody = np.zeros(people, np.int64)
    age = draw(random, patients.ages()[None, :], everybody)
    sex = (random.random(people) >= patients.WOMEN).astype(np.int64)
    area = draw(random, patients.area_weights()[None, :], everybody)
    insurance = patients.draw_insurance(random, area, age)
    lasting = _lasting(random, age, sex)
    who = np.repeat(np.arange(people), _visits(random, (lasting != _NONE).sum(axis=1)))
    day = patients.draw_days(random, len(who))
    order = np.argsort(day, kind="stable")
    who, day = who[order], day[order]
    diagnoses = _diagnoses(random, lasting[who], patients.draw_diagnoses(random, age[who], sex[who], day))
    ward = patients.draw_wards(random, diagnoses[:, 0], age[who])
    names = [each.name for each in DIAGNOSES]
    return pa.table(
        {
            "patient": pa.array(np.char.mod("P%08d", random.permutation(people) + 1)).take(pa.array(who)),
            "admitted": pa.array(patients.YEAR + day, pa.date32()),
            "age": pa.array(age[who], pa.int64()),
            "sex": patients.named(patients.SEXES, sex[who]),
            "postcode": patients.named(patients.postcodes(), area[who]),
            "ward": patients.named(WARDS, ward),
            "insurance": patients.named(patients.INSURANCES, insurance[who]),
            **{f"diag_{place + 1}": _named_or_none(names, diagnoses[:, place]) for place in range(3)},
        }
    )


def _lasting(random: np.random.Generator, age: Integers, sex: Integers) -> Integers:
    """Return up to three different lasting illnesses of everybody; the older, the more. The others are -1."""
    weights = patients.diagnosis_weights().reshape(-1, 12, len(DIAGNOSES)).sum(axis=1)
    weights[:, ~np.isin([each.name for each in DIAGNOSES], _LASTING)] = 0
    many = random.binomial(_MOST_LASTING, np.clip(age / 130, 0.03, 0.75))
    drawn = np.stack([draw(random, weights, age * 2 + sex) for _ in range(_MOST_LASTING)], axis=1)
    drawn[np.arange(_MOST_LASTING) >= many[:, None]] = _NONE
    return _first_of_each(drawn)


def _first_of_each(drawn: Integers) -> Integers:
    """Return the rows with every illness once; what occurs again is -1."""
    apart = drawn.copy()
    for later in range(1, drawn.shape[1]):
        again = (drawn[:, :later] == drawn[:, later, None]).any(axis=1)
        apart[again, later] = _NONE
    return apart


def _visits(random: np.random.Generator, lasting: Integers) -> Integers:
    """Return how often everybody came: most once, some of the lastingly ill many times."""
    return np.minimum(random.geometric(0.78 - 0.13 * lasting), _MOST_VISITS).astype(np.int64)


def _diagnoses(random: np.random.Generator, lasting: Integers, new: Integers) -> Integers:
    """Return the three diagnoses of every visit: the reason first, then others of the patient that are written down."""
    visits = np.arange(len(lasting))
    mixed = np.take_along_axis(lasting, np.argsort(random.random(lasting.shape), axis=1), axis=1)
    reason = np.where((random.random(len(visits)) < 0.45) & (mixed[:, 0] != _NONE), mixed[:, 0], new)
    others = np.where(random.random(mixed.shape) < (0.85, 0.7, 0.6), mixed, _NONE)
    others[others == reason[:, None]] = _NONE
    place = np.argsort(others == _NONE, axis=1, kind="stable")[:, :2]
    return np.column_stack((reason, np.take_along_axis(others, place, axis=1)))


def _named_or_none(names: list[str], codes: Integers) -> pa.Array:
    return pa.array(names, pa.string()).take(pa.array(codes, mask=codes == _NONE))
