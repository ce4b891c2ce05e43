"""A hospital's table of patients, made up: sixty diagnoses of very different frequency and sensitivity."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.table.generators import _patients as patients
from sfumato.table.generators._diagnoses import DIAGNOSES, WARDS
from sfumato.table.generators._draw import check_size, draw

COLUMNS = ("patient", "age", "sex", "postcode", "admitted", "ward", "insurance", "diagnosis")


def hospital(rows: int = 20_000, seed: int = 0) -> pa.Table:
    """Return a table of patients: patient, age, sex, postcode, admitted, ward, insurance and diagnosis.

    Age, sex, area and day of admission (in 2024, more in winter) are drawn first. The diagnosis depends on age, sex and month:
    its frequency is multiplied by a bell curve in age, by the share of women among its patients and by its season. The ward
    depends on the diagnosis, and children mostly lie in paediatrics. Insurance depends on age and district. Postcodes are texts
    of five digits, some of which start with 0; their first two digits name a district of ten areas.
    """
    check_size(rows, seed)
    random = np.random.default_rng([seed, 2])
    everybody = np.zeros(rows, np.int64)
    age = draw(random, patients.ages()[None, :], everybody)
    sex = (random.random(rows) >= patients.WOMEN).astype(np.int64)
    area = draw(random, patients.area_weights()[None, :], everybody)
    day = patients.draw_days(random, rows)
    diagnosis = patients.draw_diagnoses(random, age, sex, day)
    ward = patients.draw_wards(random, diagnosis, age)
    insurance = patients.draw_insurance(random, area, age)
    return pa.table(
        {
            "patient": pa.array(np.char.mod("P%08d", random.permutation(rows) + 1)),
            "age": pa.array(age, pa.int64()),
            "sex": patients.named(patients.SEXES, sex),
            "postcode": patients.named(patients.postcodes(), area),
            "admitted": pa.array(patients.YEAR + day, pa.date32()),
            "ward": patients.named(WARDS, ward),
            "insurance": patients.named(patients.INSURANCES, insurance),
            "diagnosis": patients.named([each.name for each in DIAGNOSES], diagnosis),
        }
    )
