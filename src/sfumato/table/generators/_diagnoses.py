"""The diagnoses of the example hospital: plausible figures of our own making, not statistics of any hospital."""

from __future__ import annotations

from dataclasses import dataclass

WARDS = (
    "Internal medicine",
    "Surgery",
    "Cardiology",
    "Oncology",
    "Neurology",
    "Psychiatry",
    "Gynaecology",
    "Paediatrics",
    "Infectious diseases",
    "Orthopaedics",
    "Emergency",
)


@dataclass(frozen=True)
class Diagnosis:
    """How often (per 10,000 patients), at which age (mean, spread), the share of women, the ward, how much more in winter."""

    name: str
    often: float
    age: float
    spread: float
    women: float
    ward: str
    winter: float = 0.0


DIAGNOSES = (
    Diagnosis("Flu", 720, 45, 35, 0.50, "Internal medicine", 0.9),
    Diagnosis("Hypertension", 640, 66, 14, 0.50, "Cardiology"),
    Diagnosis("Pneumonia", 470, 70, 24, 0.46, "Internal medicine", 0.6),
    Diagnosis("Heart failure", 460, 77, 10, 0.50, "Cardiology", 0.15),
    Diagnosis("Atrial fibrillation", 400, 73, 11, 0.46, "Cardiology"),
    Diagnosis("Type 2 diabetes", 390, 62, 13, 0.46, "Internal medicine"),
    Diagnosis("Childbirth", 380, 30, 5, 1.00, "Gynaecology"),
    Diagnosis("Hip or knee arthrosis", 360, 68, 10, 0.60, "Orthopaedics"),
    Diagnosis("Back pain", 350, 52, 16, 0.55, "Orthopaedics"),
    Diagnosis("Ischaemic stroke", 330, 74, 11, 0.48, "Neurology"),
    Diagnosis("Gallstones", 310, 54, 17, 0.66, "Surgery"),
    Diagnosis("Asthma", 300, 28, 22, 0.55, "Internal medicine", 0.2),
    Diagnosis("Concussion", 290, 25, 22, 0.44, "Emergency"),
    Diagnosis("Heart attack", 280, 68, 12, 0.33, "Cardiology", 0.1),
    Diagnosis("Chronic obstructive lung disease", 275, 69, 10, 0.45, "Internal medicine", 0.4),
    Diagnosis("Gastroenteritis", 270, 24, 28, 0.52, "Infectious diseases", 0.3),
    Diagnosis("Urinary tract infection", 260, 62, 24, 0.75, "Internal medicine"),
    Diagnosis("Inguinal hernia", 240, 57, 17, 0.12, "Surgery"),
    Diagnosis("Hip fracture", 230, 81, 8, 0.70, "Orthopaedics", 0.15),
    Diagnosis("Appendicitis", 210, 24, 13, 0.47, "Surgery"),
    Diagnosis("Forearm fracture", 205, 35, 28, 0.55, "Orthopaedics"),
    Diagnosis("Depression", 200, 44, 16, 0.63, "Psychiatry", 0.2),
    Diagnosis("Bronchitis", 190, 30, 30, 0.49, "Internal medicine", 0.7),
    Diagnosis("Alcohol dependence", 185, 47, 11, 0.27, "Psychiatry"),
    Diagnosis("Breast cancer", 170, 61, 12, 0.99, "Oncology"),
    Diagnosis("Kidney stones", 150, 48, 14, 0.32, "Surgery", -0.3),
    Diagnosis("Prostate cancer", 140, 69, 8, 0.00, "Oncology"),
    Diagnosis("Lung cancer", 130, 68, 9, 0.40, "Oncology"),
    Diagnosis("Colon cancer", 125, 69, 11, 0.45, "Oncology"),
    Diagnosis("Epilepsy", 120, 34, 25, 0.46, "Neurology"),
    Diagnosis("Sleep apnoea", 110, 55, 11, 0.25, "Internal medicine"),
    Diagnosis("Tonsillitis", 105, 14, 10, 0.52, "Infectious diseases", 0.4),
    Diagnosis("Migraine", 95, 36, 13, 0.74, "Neurology"),
    Diagnosis("Anxiety disorder", 90, 37, 14, 0.65, "Psychiatry"),
    Diagnosis("Middle ear infection", 85, 5, 4, 0.47, "Paediatrics", 0.5),
    Diagnosis("Kidney failure", 82, 70, 13, 0.43, "Internal medicine"),
    Diagnosis("Schizophrenia", 75, 37, 12, 0.43, "Psychiatry"),
    Diagnosis("Miscarriage", 70, 32, 6, 1.00, "Gynaecology"),
    Diagnosis("Dementia", 68, 82, 6, 0.63, "Neurology"),
    Diagnosis("Endometriosis", 62, 35, 7, 1.00, "Gynaecology"),
    Diagnosis("Crohn's disease", 58, 34, 14, 0.52, "Internal medicine"),
    Diagnosis("Psoriasis", 54, 46, 15, 0.46, "Internal medicine", 0.2),
    Diagnosis("Bipolar disorder", 50, 42, 13, 0.54, "Psychiatry"),
    Diagnosis("Opioid dependence", 46, 37, 9, 0.26, "Psychiatry"),
    Diagnosis("Parkinson's disease", 44, 74, 8, 0.41, "Neurology"),
    Diagnosis("Multiple sclerosis", 42, 40, 11, 0.71, "Neurology"),
    Diagnosis("Leukaemia", 38, 58, 26, 0.43, "Oncology"),
    Diagnosis("Induced abortion", 36, 27, 6, 1.00, "Gynaecology"),
    Diagnosis("Eating disorder", 34, 19, 5, 0.92, "Psychiatry"),
    Diagnosis("Hepatitis C", 32, 48, 11, 0.38, "Infectious diseases"),
    Diagnosis("HIV", 30, 41, 11, 0.22, "Infectious diseases"),
    Diagnosis("Chlamydia", 28, 23, 5, 0.58, "Gynaecology"),
    Diagnosis("Tuberculosis", 22, 42, 18, 0.37, "Infectious diseases"),
    Diagnosis("Self-harm", 21, 24, 10, 0.68, "Emergency"),
    Diagnosis("Lyme disease", 20, 45, 21, 0.52, "Infectious diseases", -0.8),
    Diagnosis("Testicular cancer", 18, 34, 8, 0.00, "Oncology"),
    Diagnosis("Syphilis", 15, 37, 10, 0.10, "Infectious diseases"),
    Diagnosis("Cystic fibrosis", 12, 18, 9, 0.49, "Paediatrics"),
    Diagnosis("Gender dysphoria", 10, 25, 8, 0.50, "Psychiatry"),
    Diagnosis("Huntington's disease", 8, 49, 9, 0.50, "Neurology"),
)
