"""How the patients of the example hospital are drawn: by age, sex, area and season."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers
from sfumato.table.generators._diagnoses import DIAGNOSES, WARDS
from sfumato.table.generators._draw import draw

SEXES = ("female", "male")
INSURANCES = ("public", "private", "supplementary", "none")
_OLDEST = 99
_AREAS = 200
_AREAS_PER_DISTRICT = 10
_ADULT = 16
WOMEN = 0.525  # their share
YEAR = np.datetime64("2024-01-01")
_DAYS = 366


def draw_days(random: np.random.Generator, count: int) -> Integers:
    """Return so many days of the year, more in winter."""
    return draw(random, 1 + 0.12 * _winter(np.arange(_DAYS) / _DAYS)[None, :], np.zeros(count, np.int64))


def draw_diagnoses(random: np.random.Generator, age: Integers, sex: Integers, day: Integers) -> Integers:
    """Return a diagnosis for everybody, by age, sex and month."""
    month = (YEAR + day).astype("datetime64[M]").astype(np.int64) % 12
    return draw(random, diagnosis_weights(), (age * 2 + sex) * 12 + month)


def draw_wards(random: np.random.Generator, diagnosis: Integers, age: Integers) -> Integers:
    """Return a ward for everybody, by diagnosis and for children."""
    return draw(random, _ward_weights(), diagnosis * 2 + (age >= _ADULT))


def draw_insurance(random: np.random.Generator, area: Integers, age: Integers) -> Integers:
    """Return an insurance for everybody, by district and age."""
    return draw(random, _insurance_weights(), area // _AREAS_PER_DISTRICT * 3 + np.digitize(age, (25, 65)))


def named(names: tuple[str, ...] | list[str], codes: Integers) -> pa.Array:
    """Return the names with these numbers."""
    return pa.array(names, pa.string()).take(pa.array(codes))


def ages() -> Floats:
    """Return how often each age 0 … 99 occurs: some children, a broad middle, many old people."""
    years = np.arange(_OLDEST + 1)
    children = 0.14 * np.exp(-years / 6) / 6
    middle = 0.40 * np.exp(-(((years - 38) / 16) ** 2) / 2) / 40
    old = 0.46 * np.exp(-(((years - 72) / 11) ** 2) / 2) / 27.5
    return np.asarray(children + middle + old)


def area_weights() -> Floats:
    """Return how many patients come from each area: towns and villages, in no order."""
    ranks = (np.arange(_AREAS) * 77) % _AREAS
    return np.asarray(1 / (ranks + 15.0))


def postcodes() -> list[str]:
    """Return the areas' postcodes: districts 01, 06, 11, … and within them scattered numbers."""
    areas = range(_AREAS)
    return [f"{1 + 5 * (a // _AREAS_PER_DISTRICT):02d}{(37 + 97 * (a % _AREAS_PER_DISTRICT)) % 1000:03d}" for a in areas]


def _winter(share_of_year: Floats) -> Floats:
    """Return +1 in mid-January and −1 in mid-July."""
    return np.cos(2 * np.pi * (share_of_year - 0.04))


def diagnosis_weights() -> Floats:
    """Return how often each diagnosis occurs in each stratum of age, sex and month.

    The bell curves are divided by their mean over all patients, so that the frequencies stay about what the list says.
    """
    years = np.arange(_OLDEST + 1)[:, None]
    centre, spread, often, women, winter = (
        np.array([getattr(each, name) for each in DIAGNOSES]) for name in ("age", "spread", "often", "women", "winter")
    )
    bell = 0.01 + np.exp(-(((years - centre) / spread) ** 2) / 2)
    bell /= (bell * ages()[:, None]).sum(axis=0) / ages().sum()
    by_sex = np.stack([women / WOMEN, (1 - women) / (1 - WOMEN)])
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
    weights = np.zeros((districts, 3, len(INSURANCES)))
    for age, (factor, supplementary, none) in enumerate(((0.6, 0.05, 0.03), (1.2, 0.12, 0.04), (0.9, 0.25, 0.005))):
        weights[:, age, 1] = private * factor
        weights[:, age, 2] = supplementary
        weights[:, age, 3] = none
    weights[..., 0] = 1 - weights.sum(axis=2)
    return weights.reshape(-1, len(INSURANCES))
