"""A hospital's table of patients, made up: sixty diagnoses of very different frequency and sensitivity."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers
from sfumato.table.generators._diagnoses import DIAGNOSES, WARDS
from sfumato.table.generators._draw import check_size, draw

COLUMNS = ("patient", "age", "sex", "postcode", "admitted", "ward", "insurance", "diagnosis")

_SEXES = ("female", "male")
_INSURANCES = ("public", "private", "supplementary", "none")
_OLDEST = 99
_AREAS = 200
_AREAS_PER_DISTRICT = 10
_ADULT = 16
_YEAR = np.datetime64("2024-01-01")
_DAYS = 366


def hospital(rows: int = 20_000, seed: int = 0) -> pa.Table:
    """Return a table of patients: patient, age, sex, postcode, admitted, ward, insurance and diagnosis.

    Age, sex, area and day of admission (in 2024, more in winter) are drawn first. The diagnosis depends on age, sex and month:
    its frequency is multiplied by a bell curve in age, by the share of women among its patients and by its season. The ward
    depends on the diagnosis, and children mostly lie in paediatrics. Insurance depends on age and district. Postcodes are texts
    of five digits, some of which start with 0; their first two digits name a district of ten areas.
    """
    check_size(rows, seed)
    random = np.random.default_rng([seed, 2])
    one = np.zeros(rows, np.int64)
    age = draw(random, _ages()[None, :], one)
    sex = (random.random(rows) >= 0.525).astype(np.int64)
    area = draw(random, _area_weights()[None, :], one)
    day = draw(random, 1 + 0.12 * _winter(np.arange(_DAYS) / _DAYS)[None, :], one)
    month = (_YEAR + day).astype("datetime64[M]").astype(np.int64) % 12
    stratum = (age * 2 + sex) * 12 + month
    diagnosis = draw(random, _diagnosis_weights(), stratum)
    ward = draw(random, _ward_weights(), diagnosis * 2 + (age >= _ADULT))
    district = area // _AREAS_PER_DISTRICT
    insurance = draw(random, _insurance_weights(), district * 3 + np.digitize(age, (25, 65)))
    return pa.table(
        {
            "patient": pa.array(np.char.mod("P%08d", random.permutation(rows) + 1)),
            "age": pa.array(age, pa.int64()),
            "sex": _named(_SEXES, sex),
            "postcode": _named(_postcodes(), area),
            "admitted": pa.array(_YEAR + day, pa.date32()),
            "ward": _named(WARDS, ward),
            "insurance": _named(_INSURANCES, insurance),
            "diagnosis": _named([each.name for each in DIAGNOSES], diagnosis),
        }
    )


def _named(names: tuple[str, ...] | list[str], codes: Integers) -> pa.Array:
    return pa.array(names, pa.string()).take(pa.array(codes))


def _ages() -> Floats:
    """Return how often each age 0 … 99 occurs: some children, a broad middle, many old people."""
    ages = np.arange(_OLDEST + 1)
    children = 0.14 * np.exp(-ages / 6) / 6
    middle = 0.40 * np.exp(-(((ages - 38) / 16) ** 2) / 2) / 40
    old = 0.46 * np.exp(-(((ages - 72) / 11) ** 2) / 2) / 27.5
    return np.asarray(children + middle + old)


def _area_weights() -> Floats:
    """Return how many patients come from each area: towns and villages, in no order."""
    ranks = (np.arange(_AREAS) * 77) % _AREAS
    return np.asarray(1 / (ranks + 15.0))


def _postcodes() -> list[str]:
    """Return the areas' postcodes: districts 01, 06, 11, … and within them scattered numbers."""
    areas = range(_AREAS)
    return [f"{1 + 5 * (a // _AREAS_PER_DISTRICT):02d}{(37 + 97 * (a % _AREAS_PER_DISTRICT)) % 1000:03d}" for a in areas]


def _winter(share_of_year: Floats) -> Floats:
    """Return +1 in mid-January and −1 in mid-July."""
    return np.cos(2 * np.pi * (share_of_year - 0.04))


def _diagnosis_weights() -> Floats:
    """Return how often each diagnosis occurs in each stratum of age, sex and month.

    The bell curves are divided by their mean over all patients, so that the frequencies stay about what the list says.
    """
    ages = np.arange(_OLDEST + 1)[:, None]
    centre, spread, often, women, winter = (
        np.array([getattr(each, name) for each in DIAGNOSES]) for name in ("age", "spread", "often", "women", "winter")
    )
    bell = 0.01 + np.exp(-(((ages - centre) / spread) ** 2) / 2)
    bell /= (bell * _ages()[:, None]).sum(axis=0) / _ages().sum()
    by_sex = np.stack([women / 0.525, (1 - women) / 0.475])
    by_month = 1 + winter * _winter((np.arange(12)[:, None] + 0.5) / 12)
    weights = often * bell[:, None, None, :] * by_sex[None, :, None, :] * by_month[None, None, :, :]
    impossible = np.isin([each.name for each in DIAGNOSES], ("Childbirth", "Miscarriage", "Induced abortion"))
    weights[:13, ..., impossible] = weights[56:, ..., impossible] = 0
    return np.asarray(weights.reshape(-1, len(DIAGNOSES)))


def _ward_weights() -> Floats:
    """Return the wards of each diagnosis, first for children and then for adults."""
    weights = np.zeros((len(DIAGNOSES), 2, len(WARDS)))
    weights[..., WARDS.index("Emergency")] += 0.14
    weights[..., WARDS.index("Internal medicine")] += 0.10
    weights[..., WARDS.index("Surgery")] += 0.02
    for place, each in enumerate(DIAGNOSES):
        ward = each.ward if each.ward != "Paediatrics" else "Internal medicine"
        weights[place, 0, WARDS.index(each.ward)] += 0.30
        weights[place, 0, WARDS.index("Paediatrics")] += 1.60
        weights[place, 1, WARDS.index(ward)] += 0.74
    return weights.reshape(-1, len(WARDS))


def _insurance_weights() -> Floats:
    """Return the kinds of insurance by district (some are rich) and by age (under 25, under 65, older)."""
    districts = _AREAS // _AREAS_PER_DISTRICT
    private = 0.06 + 0.24 * ((np.arange(districts) * 7) % districts) / districts
    weights = np.zeros((districts, 3, len(_INSURANCES)))
    for age, (factor, supplementary, none) in enumerate(((0.6, 0.05, 0.03), (1.2, 0.12, 0.04), (0.9, 0.25, 0.005))):
        weights[:, age, 1] = private * factor
        weights[:, age, 2] = supplementary
        weights[:, age, 3] = none
    weights[..., 0] = 1 - weights.sum(axis=2)
    return weights.reshape(-1, len(_INSURANCES))
