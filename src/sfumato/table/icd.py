"""Chapters of the International Classification of Diseases: what a code of an illness has to do with."""

from __future__ import annotations

import re
from bisect import bisect_right

NO_CODE = "no ICD code"

_CODE_10 = re.compile(r"([A-Z])(\d[0-9A-Z])(\.?[0-9A-Z]{1,4})?", re.IGNORECASE)
_CODE_9 = re.compile(r"([VE]?)(\d{1,3})(\.\d{1,2})?", re.IGNORECASE)

_TENTH = {
    "A00": "infectious diseases",
    "C00": "neoplasms",
    "D50": "blood and immune system",
    "E00": "endocrine, nutritional and metabolic diseases",
    "F00": "mental disorders",
    "G00": "nervous system",
    "H00": "eye",
    "H60": "ear",
    "I00": "circulatory system",
    "J00": "respiratory system",
    "K00": "digestive system",
    "L00": "skin",
    "M00": "musculoskeletal system",
    "N00": "genitourinary system",
    "O00": "pregnancy and childbirth",
    "P00": "perinatal conditions",
    "Q00": "congenital malformations",
    "R00": "symptoms and signs",
    "S00": "injury and poisoning",
    "U00": "special purposes",
    "V00": "external causes",
    "Z00": "contact with health services",
}
"""The first category of each chapter of ICD-10."""

_NINTH = {
    1: "infectious diseases",
    140: "neoplasms",
    240: "endocrine, nutritional and metabolic diseases",
    280: "blood and immune system",
    290: "mental disorders",
    320: "nervous system and sense organs",
    390: "circulatory system",
    460: "respiratory system",
    520: "digestive system",
    580: "genitourinary system",
    630: "pregnancy and childbirth",
    680: "skin",
    710: "musculoskeletal system",
    740: "congenital malformations",
    760: "perinatal conditions",
    780: "symptoms and signs",
    800: "injury and poisoning",
}
"""The first category of each chapter of ICD-9; letters mark external causes (E) and contact with health services (V)."""

_LETTERED = {"V": "contact with health services", "E": "external causes"}


def chapter(code: str, edition: int) -> str:
    """Return the chapter of a code in the ninth or tenth edition, with or without its point.

    >>> chapter("I10", 10), chapter("E11.9", 10), chapter("250.83", 9)
    ('circulatory system', 'endocrine, nutritional and metabolic diseases', 'endocrine, nutritional and metabolic diseases')
    """
    if edition == 10:
        match = _CODE_10.fullmatch(code.strip())
        if match is None:
            return NO_CODE
        first = list(_TENTH)
        return _TENTH[first[bisect_right(first, (match[1] + match[2]).upper()) - 1]]
    match = _CODE_9.fullmatch(code.strip())
    if match is None:
        return NO_CODE
    if match[1]:
        return _LETTERED[match[1].upper()]
    number, starts = int(match[2]), list(_NINTH)
    return _NINTH[starts[bisect_right(starts, number) - 1]] if number else NO_CODE
