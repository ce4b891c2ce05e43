"""The example tables have the columns, the shares and the dependences they promise."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest

from sfumato.errors import PolicyError
from sfumato.table.generators import census, encounters, hospital, insurance, sample

HOSPITAL = hospital(20_000).to_pandas()
CENSUS = census(100_000).to_pandas()


def test_the_same_seed_gives_the_same_table_and_another_seed_another() -> None:
    for name in ("hospital", "census", "insurance"):
        assert sample(name, 500, 7).equals(sample(name, 500, 7))  # type: ignore[arg-type]
        assert not sample(name, 500, 7).equals(sample(name, 500, 8))  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match="called 'censsus'"):
        sample("censsus", 5)  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match=r"rows: expected.*1"):
        census(0)


def test_hospital_has_unique_patients_sixty_diagnoses_and_two_hundred_areas() -> None:
    assert list(HOSPITAL.columns) == ["patient", "age", "sex", "postcode", "admitted", "ward", "insurance", "diagnosis"]
    assert HOSPITAL.patient.is_unique
    assert (HOSPITAL.diagnosis.nunique(), HOSPITAL.postcode.nunique(), HOSPITAL.ward.nunique()) == (60, 200, 11)
    assert HOSPITAL.postcode.str.fullmatch("[0-9]{5}").all()
    assert HOSPITAL.postcode.str.startswith("0").any()
    assert {str(day)[:4] for day in HOSPITAL.admitted} == {"2024"}


def test_diagnoses_differ_widely_in_frequency() -> None:
    shares = HOSPITAL.diagnosis.value_counts(normalize=True)
    assert 0.002 < shares["HIV"] < 0.004
    assert 0.05 < shares["Flu"] < 0.10
    assert shares.min() < 0.002


def test_diagnoses_depend_on_age_sex_ward_and_season() -> None:
    men = HOSPITAL[HOSPITAL.sex == "male"].diagnosis.value_counts()
    women = HOSPITAL[HOSPITAL.sex == "female"].diagnosis.value_counts()
    assert "Childbirth" not in men
    assert "Prostate cancer" not in women
    assert women["Breast cancer"] > 10 * men["Breast cancer"]
    age = HOSPITAL.groupby("diagnosis").age.mean()
    assert age["Middle ear infection"] < 20 < age["Chlamydia"] < 40 < age["Heart attack"] < 75 < age["Dementia"]
    mothers = HOSPITAL[HOSPITAL.diagnosis == "Childbirth"].age
    assert (mothers.min() >= 13, mothers.max() <= 55) == (True, True)
    oncology = HOSPITAL[HOSPITAL.ward == "Oncology"].diagnosis.str.contains("cancer|Leukaemia").mean()
    assert oncology > 0.95
    flu = HOSPITAL[HOSPITAL.diagnosis == "Flu"].admitted.map(lambda day: day.month).value_counts()
    assert flu[[12, 1, 2]].sum() > 4 * flu[[6, 7, 8]].sum()


def test_encounters_are_the_visits_of_patients_with_some_who_come_often_and_illnesses_that_last() -> None:
    visits = encounters(5_000, 3).to_pandas()
    assert encounters(200, 1).equals(encounters(200, 1))
    assert list(visits.columns[-3:]) == ["diag_1", "diag_2", "diag_3"]
    rows = visits.groupby("patient").size()
    assert (len(rows), rows.min()) == (5_000, 1)
    assert (0.5 < (rows == 1).mean() < 0.8, rows.max() > 8) == (True, True)
    assert (visits.groupby("patient")[["age", "sex", "postcode", "insurance"]].nunique() == 1).all(axis=None)
    assert visits.admitted.is_monotonic_increasing
    assert not visits.diag_1.isna().any()
    assert visits.diag_3[visits.diag_2.isna()].isna().all()
    assert (visits.diag_1 != visits.diag_2).all()
    ever = (
        visits.melt(id_vars="patient", value_vars=["diag_1", "diag_2", "diag_3"]).dropna().drop_duplicates(["patient", "value"])
    )
    assert 1.5 < len(ever) / 5_000 < 3
    often = visits.groupby("patient").diag_2.count() / rows
    assert often[rows > 3].mean() > often[rows == 1].mean()


def test_census_has_the_papers_columns_and_domains() -> None:
    assert list(CENSUS.columns) == [
        "age",
        "gender",
        "education",
        "marital",
        "race",
        "workclass",
        "country",
        "occupation",
        "salary",
    ]
    assert {name: CENSUS[name].nunique() for name in ("gender", "education", "marital", "race", "workclass")} == {
        "gender": 2,
        "education": 14,
        "marital": 6,
        "race": 9,
        "workclass": 7,
    }
    assert (CENSUS.occupation.nunique(), CENSUS.salary.nunique(), CENSUS.salary.max()) == (50, 50, 49)


def test_occupation_and_education_have_the_shares_the_paper_prints() -> None:
    occupation = CENSUS.occupation.value_counts(normalize=True)
    education = CENSUS.education.value_counts(normalize=True)
    # Paper 001, section 7: occupation 0.18 % to 7.5 %, education up to 27.3 % and from 0.44 % on.
    assert occupation.min() == pytest.approx(0.0018, abs=0.0005)
    assert occupation.max() == pytest.approx(0.075, abs=0.004)
    assert education.max() == pytest.approx(0.273, abs=0.007)
    assert education.min() == pytest.approx(0.0044, abs=0.001)


def test_occupation_follows_the_most_specific_table_that_has_the_row() -> None:
    model = json.loads(files("sfumato").joinpath("data", "census_model.json").read_text())
    node = next(node for node in model["nodes"] if node["name"] == "occupation")
    by_three, by_two = node["tables"][3], node["tables"][2]
    assert (by_three["parents"], by_two["parents"]) == (["education", "gender", "workclass"], ["education", "gender"])
    people = CENSUS[(CENSUS.education == 10) & (CENSUS.gender == 2) & (CENSUS.workclass == 5)]
    shares = np.bincount(people.occupation, minlength=50) / len(people)
    # Five standard deviations of a share of more than 5,000 people: 50 checks fail together once in 30,000 runs at most.
    assert len(people) > 5000
    assert np.abs(shares - by_three["rows"]["10|2|5"]).max() < 5 * np.sqrt(0.25 / len(people))
    lacking = [(e, g, w) for e in (1, 4) for g in (1, 2) for w in (3, 9, 10) if f"{e}|{g}|{w}" not in by_three["rows"]]
    rare = CENSUS[[tuple(row) in set(lacking) for row in CENSUS[["education", "gender", "workclass"]].to_numpy()]]
    assert len(rare) > 0
    for education, gender, occupation in rare[["education", "gender", "occupation"]].to_numpy():
        assert by_two["rows"][f"{education}|{gender}"][occupation] > 0


def test_salary_is_skewed_and_depends_on_its_causes() -> None:
    shares = CENSUS.salary.value_counts(normalize=True)
    assert CENSUS.salary.mean() > CENSUS.salary.median()
    assert 0.04 < shares.max() < 0.10
    assert CENSUS[CENSUS.education >= 16].salary.mean() > 1.5 * CENSUS[CENSUS.education <= 8].salary.mean()
    assert CENSUS[CENSUS.gender == 1].salary.mean() > 1.1 * CENSUS[CENSUS.gender == 2].salary.mean()
    assert CENSUS[CENSUS.age.between(45, 55)].salary.mean() > 1.3 * CENSUS[CENSUS.age < 25].salary.mean()
    assert CENSUS.groupby("workclass").salary.mean().std() > 0.5
    assert CENSUS.groupby("occupation").salary.mean().std() > 1


def test_insurance_has_the_sizes_and_the_skew_that_the_paper_gives() -> None:
    table = insurance().to_pandas()
    assert len(table) == 9_822
    assert [table[name].nunique() for name in table.columns] == [9, 6, 6, 10, 40]
    shares = {name: table[name].value_counts(normalize=True).iloc[0] for name in ("houses", "sub_type")}
    assert abs(shares["houses"] - 0.91) < 0.01
    assert abs(shares["sub_type"] - 0.14) < 0.015


def test_every_sub_type_of_customers_belongs_to_one_main_type_and_goes_with_age() -> None:
    table = insurance(20_000).to_pandas()
    assert (table.groupby("sub_type").main_type.nunique() == 1).all()
    assert (table.groupby("main_type").sub_type.nunique() == 4).all()
    means = table.groupby("sub_type").age.mean()
    assert means.max() - means.min() > 0.7
