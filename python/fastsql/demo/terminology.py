"""The words of the demo hospital: what its patients can have, get and be measured. A small list of our own.

Codes are invented. Names are plain clinical terms, in lower case as in the data sets that models learn from.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Drug:
    """A drug with its usual dose. `for_codes` are the diagnoses it is given for; none means anybody may get it."""

    name: str
    dose: str
    unit: str
    route: str
    for_codes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Measurement:
    """Something measured, as normally distributed around `mean`; `digits` decimals are kept."""

    label: str
    unit: str
    mean: float
    deviation: float
    digits: int = 1
    abbreviation: str = ""


DIAGNOSES: dict[str, str] = {
    "demo|d01": "type 2 diabetes mellitus without complications",
    "demo|d02": "essential hypertension",
    "demo|d03": "acute kidney failure, unspecified",
    "demo|d04": "pneumonia, organism unspecified",
    "demo|d05": "atrial fibrillation",
    "demo|d06": "congestive heart failure, unspecified",
    "demo|d07": "asthma, unspecified",
    "demo|d08": "urinary tract infection, site not specified",
    "demo|d09": "iron deficiency anemia, unspecified",
    "demo|d10": "major depressive disorder, single episode",
    "demo|d11": "hypothyroidism, unspecified",
    "demo|d12": "sepsis, unspecified organism",
    "demo|d13": "migraine without aura",
    "demo|d14": "fracture of neck of left femur",
    "demo|d15": "gout, unspecified",
    "demo|d16": "acute appendicitis",
    "demo|d17": "pure hypercholesterolemia",
    "demo|d18": "obstructive sleep apnea",
    "demo|d19": "chronic obstructive pulmonary disease, unspecified",
    "demo|d20": "hyposmolality and hyponatremia",
}

PROCEDURES: dict[str, str] = {
    "demo|p01": "insertion of central venous catheter",
    "demo|p02": "hemodialysis",
    "demo|p03": "invasive mechanical ventilation",
    "demo|p04": "transfusion of red blood cells",
    "demo|p05": "laparoscopic appendectomy",
    "demo|p06": "ultrasound of the heart",
    "demo|p07": "partial replacement of the hip",
    "demo|p08": "endoscopy of the small intestine",
    "demo|p09": "drainage of pleural cavity",
    "demo|p10": "insertion of feeding tube into stomach",
    "demo|p11": "lumbar puncture",
    "demo|p12": "bronchoscopy",
    "demo|p13": "cardioversion",
    "demo|p14": "colonoscopy",
    "demo|p15": "insertion of arterial line",
    "demo|p16": "removal of gallbladder, laparoscopic",
    "demo|p17": "skin graft of the lower leg",
    "demo|p18": "ultrasound of both kidneys",
}

PROCEDURES_FOR: dict[str, tuple[str, ...]] = {
    "demo|d03": ("demo|p02", "demo|p18"),
    "demo|d04": ("demo|p09", "demo|p12"),
    "demo|d05": ("demo|p06", "demo|p13"),
    "demo|d06": ("demo|p06",),
    "demo|d09": ("demo|p04", "demo|p08", "demo|p14"),
    "demo|d12": ("demo|p01", "demo|p03", "demo|p15"),
    "demo|d14": ("demo|p04", "demo|p07"),
    "demo|d16": ("demo|p05",),
}
"""What may be done about a diagnosis."""

DRUGS: tuple[Drug, ...] = (
    Drug("acetaminophen", "650", "mg", "po"),
    Drug("heparin", "5000", "unit", "sc"),
    Drug("sodium chloride 0.9% flush", "3", "ml", "iv"),
    Drug("docusate sodium", "100", "mg", "po"),
    Drug("pantoprazole", "40", "mg", "iv"),
    Drug("metformin", "500", "mg", "po", ("demo|d01",)),
    Drug("insulin", "2", "unit", "sc", ("demo|d01",)),
    Drug("lisinopril", "10", "mg", "po", ("demo|d02", "demo|d06")),
    Drug("amlodipine", "5", "mg", "po", ("demo|d02",)),
    Drug("ceftriaxone", "1", "gm", "iv", ("demo|d04", "demo|d08", "demo|d12")),
    Drug("azithromycin", "250", "mg", "po", ("demo|d04",)),
    Drug("vancomycin", "1000", "mg", "iv", ("demo|d12",)),
    Drug("warfarin", "5", "mg", "po", ("demo|d05",)),
    Drug("metoprolol tartrate", "25", "mg", "po", ("demo|d05", "demo|d06")),
    Drug("furosemide", "40", "mg", "iv", ("demo|d03", "demo|d06")),
    Drug("albuterol 0.083% neb soln", "1", "neb", "ih", ("demo|d07",)),
    Drug("ferrous sulfate", "325", "mg", "po", ("demo|d09",)),
    Drug("sertraline", "50", "mg", "po", ("demo|d10",)),
    Drug("levothyroxine sodium", "75", "mcg", "po", ("demo|d11",)),
    Drug("sumatriptan", "50", "mg", "po", ("demo|d13",)),
    Drug("morphine sulfate", "2", "mg", "iv", ("demo|d14", "demo|d16")),
    Drug("allopurinol", "100", "mg", "po", ("demo|d15",)),
)

LABS: tuple[Measurement, ...] = (
    Measurement("glucose", "mg/dl", 118, 30, 0),
    Measurement("creatinine", "mg/dl", 1.1, 0.5),
    Measurement("hemoglobin", "g/dl", 12.1, 1.8),
    Measurement("potassium", "meq/l", 4.2, 0.5),
    Measurement("sodium", "meq/l", 139, 4, 0),
    Measurement("white blood cells", "k/ul", 9.2, 3),
    Measurement("platelet count", "k/ul", 240, 70, 0),
    Measurement("urea nitrogen", "mg/dl", 21, 10, 0),
    Measurement("lactate", "mmol/l", 1.8, 0.8),
    Measurement("chloride", "meq/l", 103, 4, 0),
    Measurement("bicarbonate", "meq/l", 25, 3, 0),
    Measurement("calcium, total", "mg/dl", 8.8, 0.6),
    Measurement("magnesium", "mg/dl", 2.0, 0.3),
    Measurement("phosphate", "mg/dl", 3.5, 0.8),
    Measurement("hematocrit", "%", 36, 5),
    Measurement("albumin", "g/dl", 3.6, 0.5),
    Measurement("troponin t", "ng/ml", 0.04, 0.03, 2),
    Measurement("c-reactive protein", "mg/l", 24, 18),
)

VITAL_SIGNS: tuple[Measurement, ...] = (
    Measurement("heart rate", "bpm", 84, 14, 0, "hr"),
    Measurement("respiratory rate", "insp/min", 18, 4, 0, "rr"),
    Measurement("o2 saturation pulseoxymetry", "%", 96.5, 2, 0, "spo2"),
    Measurement("temperature celsius", "°c", 37, 0.6, 1, "temperature c"),
    Measurement("arterial blood pressure systolic", "mmhg", 121, 17, 0, "abps"),
    Measurement("arterial blood pressure diastolic", "mmhg", 66, 11, 0, "abpd"),
    Measurement("arterial blood pressure mean", "mmhg", 83, 12, 0, "abpm"),
)
WEIGHT = Measurement("daily weight", "kg", 78, 16, 1, "daily weight")
HEIGHT = Measurement("height (cm)", "cm", 170, 9, 0, "height (cm)")

INPUTS: tuple[Measurement, ...] = (
    Measurement("normal saline", "ml", 500, 200, 0, "normal saline"),
    Measurement("dextrose 5%", "ml", 250, 80, 0, "dextrose 5%"),
    Measurement("po intake", "ml", 200, 80, 0, "po intake"),
    Measurement("packed red blood cells", "ml", 350, 30, 0, "packed rbc"),
)
OUTPUTS: tuple[Measurement, ...] = (
    Measurement("foley", "ml", 90, 40, 0, "foley"),
    Measurement("void", "ml", 280, 90, 0, "void"),
    Measurement("stool", "ml", 150, 60, 0, "stool"),
)

SPECIMENS: tuple[tuple[str, str, str], ...] = (
    ("urine", "urine culture", "escherichia coli"),
    ("blood culture", "blood culture, routine", "staphylococcus aureus coag +"),
    ("sputum", "respiratory culture", "klebsiella pneumoniae"),
    ("mrsa screen", "mrsa screen", "positive for methicillin resistant staph aureus"),
)
"""Specimen, the test made of it, and what is found in it at times."""

ADMISSION_TYPES = ("urgent", "elective", "ew emer.", "direct emer.", "eu observation")
ADMISSION_LOCATIONS = ("emergency room", "physician referral", "transfer from hospital", "clinic referral")
DISCHARGE_LOCATIONS = ("home", "home health care", "skilled nursing facility", "rehab")
INSURANCES = ("medicare", "medicaid", "other")
LANGUAGES = ("english", "?")
MARITAL_STATES = ("married", "single", "widowed", "divorced")
ICU_UNITS = (
    "medical intensive care unit (micu)",
    "surgical intensive care unit (sicu)",
    "coronary care unit (ccu)",
)
WARDS = ("medicine", "med/surg", "cardiac surgery", "neurology")
