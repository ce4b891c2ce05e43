"""Made-up tables of the kinds that people really have: visits, a court's list, and census files without a header."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

FIRST = ("James", "Mary", "Anna", "Hans", "Petra", "Juan", "Lucia", "Pierre", "Olga", "Yuki", "Wei", "Fatima", "Carlos", "Emma")
LAST = ("Smith", "Garcia", "Miller", "Meyer", "Schmidt", "Rossi", "Dubois", "Nowak", "Tanaka", "Kim", "Lopez", "Silva", "Jansen")
CHARGES = ("Battery", "Possession of Cocaine", "Grand Theft", "Driving While License Revoked", "arrest case no charge", "DUI")
ILLNESSES = ("250.83", "276", "401", "410", "V57", "486", "I10", "E11.9", "428", "599")

VISIT = (
    "encounter_id,patient_nbr,race,gender,age,admitted,time_in_hospital,num_medications,number_diagnoses,diag_1,diag_2,insulin"
)
COURT = "id,name,first,last,sex,dob,age,race,c_case_number,c_offense_date,c_jail_in,juv_fel_count,charge_desc,is_recid,religion"


def visits(rows: int = 1500, seed: int = 1) -> str:
    """Return visits of a hospital: a patient has one or several, with the same race and sex and mostly the same diagnosis."""
    coins = Random(seed)
    people = [
        (coins.randrange(10_000, 190_000_000), coins.choice(("Caucasian", "Asian", "?")), coins.choice(("Male", "Female")),
         f"[{10 * coins.randrange(10)}-x)", coins.choice(ILLNESSES))
        for _ in range(int(rows * 0.7))
    ]  # fmt: skip
    lines = [VISIT]
    for number in range(rows):
        *person, illness = coins.choice(people)
        later = illness if coins.random() < 0.8 else coins.choice(ILLNESSES)
        counts = [coins.randrange(1, 14), coins.randrange(1, 60), coins.randrange(1, 16)]
        lines.append(
            _line([2_000_000 + 7 * number, *person, _day(coins), *counts, later, coins.choice(ILLNESSES), coins.choice("NSUD")])
        )
    return "\n".join(lines) + "\n"


def court(rows: int = 1500, seed: int = 2) -> str:
    """Return people before a court, with names, dates and three secrets."""
    coins = Random(seed)
    lines = [COURT]
    for number in range(rows):
        first = coins.choice(FIRST) + coins.choice(("", "a", "ie"))
        last = coins.choice(LAST) + coins.choice(("", "s"))
        age = coins.randrange(18, 80)
        case = f"13{coins.randrange(10**6):06d}CF10A"
        lines.append(_line([
            number + 1, f"{first} {last}", first, last, coins.choice(("Male", "Female")), _day(coins, 2014 - age), age,
            coins.choice(("African-American", "Caucasian", "Hispanic")), case, _day(coins), _day(coins), coins.choice((0, 1, 2)),
            coins.choice(CHARGES), coins.randrange(2), coins.choice(("catholic", "muslim", "none", "jewish", "lutheran")),
        ]))  # fmt: skip
    return "\n".join(lines) + "\n"


def census(rows: int = 1500, seed: int = 3) -> str:
    """Return a census without a header: person number, surname, sex, age, marital status, country, illness, income."""
    coins = Random(seed)
    status, lands = ("married", "single", "divorced", "widowed"), ("Germany", "France", "Poland", "Italy", "Spain")
    ill = ("diabetes", "asthma", "depression", "cancer", "none")
    return "".join(
        _line([
            7_000_000 + 13 * number, coins.choice(LAST) + coins.choice(("", "s", "er")), coins.choice("mf"), coins.randrange(100),
            coins.choice(status), coins.choice(lands), coins.choice(ill), coins.randrange(800, 9000),
        ])
        + "\n"
        for number in range(rows)
    )  # fmt: skip


def adult(rows: int = 2000, seed: int = 4) -> str:
    """Return a look-alike of the census-income file as it first came: no header, a blank after every comma, ? for missing."""
    coins = Random(seed)
    work = ("Private", "Self-emp-not-inc", "State-gov", "Local-gov", "Federal-gov", "?")
    schools = ("Bachelors", "HS-grad", "Some-college", "Masters", "11th", "Doctorate")
    jobs = ("Adm-clerical", "Exec-managerial", "Craft-repair", "Sales", "Tech-support", "Other-service", "?")
    married = ("Never-married", "Married-civ-spouse", "Divorced", "Widowed", "Separated")
    kin = ("Not-in-family", "Husband", "Wife", "Own-child", "Unmarried")
    lines = []
    for _ in range(rows):
        school = coins.randrange(len(schools))
        gain, loss = (coins.choice((0, 0, 0, 0, coins.randrange(100, 20000))) for _ in range(2))
        row = [
            coins.randrange(17, 91), coins.choice(work), coins.randrange(12_285, 1_484_705), schools[school], school + 8,
            coins.choice(married), coins.choice(jobs), coins.choice(kin), coins.choice(("White", "Black", "Asian-Pac-Islander")),
            coins.choice(("Male", "Female")), gain, loss, coins.randrange(1, 100),
            coins.choice(("United-States", "Mexico", "Germany", "?")), coins.choice(("<=50K", "<=50K", "<=50K", ">50K")),
        ]  # fmt: skip
        lines.append(", ".join(map(str, row)))
    return "\n".join(lines) + "\n\n"


def _day(coins: Random, year: int = 2013) -> str:
    return f"{year}-{coins.randrange(1, 13):02d}-{coins.randrange(1, 29):02d}"


def _line(cells: Sequence[object]) -> str:
    return ",".join(map(str, cells))
