"""Findings in plain words: *low potassium* is hypokalemia.

Similarity knows that both speak of a laboratory, and hardly which way a value went. Here the words
of a direction and of what is measured make the name that clinicians have for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from canonym.regex import regex

_Value = TypeVar("_Value")

_BLOOD = {
    "potassium": "kal",
    "sodium": "natr",
    "calcium": "calc",
    "magnesium": "magnes",
    "phosphate|phosphorus": "phosphat",
    "chloride": "chlor",
    "glucose|sugar": "glyc",
    "cholesterol": "cholesterol",
    "triglyceride": "triglycerid",
    "lipid|fat": "lipid",
    "albumin": "albumin",
    "protein": "protein",
    "fibrinogen": "fibrinogen",
    "gamma globulin|gammaglobulin": "gammaglobulin",
    "insulin": "insulin",
    "prolactin": "prolactin",
    "uric acid|urate": "uric",
    "ammonia": "ammon",
    "bilirubin": "bilirubin",
    "homocysteine": "homocystein",
    "amylase": "amylas",
    "volume": "vol",
}
# What is measured in the blood, and the stem between hypo- or hyper- and -emia.

_NAMED = {
    "platelet|thrombocyte": ("thrombocytopenia", "thrombocytosis"),
    "white blood cell|white cell|wbc|leukocyte|leucocyte": ("leukopenia", "leukocytosis"),
    "neutrophil": ("neutropenia", "neutrophilia"),
    "lymphocyte": ("lymphopenia", "lymphocytosis"),
    "eosinophil": ("eosinopenia", "eosinophilia"),
    "monocyte": ("monocytopenia", "monocytosis"),
    "granulocyte": ("granulocytopenia", "granulocytosis"),
    "reticulocyte": ("reticulocytopenia", "reticulocytosis"),
    "hemoglobin|haemoglobin": ("anemia", ""),
    "red blood cell|red cell|rbc|erythrocyte": ("anemia", "erythrocytosis"),
    "oxygen": ("hypoxemia", ""),
    "carbon dioxide|co2": ("hypocapnia", "hypercapnia"),
    "pressure|bp": ("hypotension", "hypertension"),
    "heart rate|pulse rate": ("bradycardia", "tachycardia"),
    "body temperature": ("hypothermia", "fever"),
    "respiratory rate|breathing rate": ("bradypnea", "tachypnea"),
    "thyroid hormone": ("hypothyroidism", "hyperthyroidism"),
    "cortisol": ("hypocortisolism", "hypercortisolism"),
    "muscle tone": ("hypotonia", "hypertonia"),
    "sweating": ("hypohidrosis", "hyperhidrosis"),
    "intracranial pressure": ("intracranial hypotension", "intracranial hypertension"),
    "intraocular pressure|eye pressure": ("ocular hypotony", "ocular hypertension"),
}
# Names for too little and too much of it; "" where clinicians have none.

_URINE = {
    "protein": "proteinuria",
    "albumin": "albuminuria",
    "sugar|glucose": "glycosuria",
    "ketone": "ketonuria",
    "blood|red blood cell|red cell": "hematuria",
    "white blood cell|white cell|pus": "pyuria",
    "hemoglobin|haemoglobin": "hemoglobinuria",
    "bacteria": "bacteriuria",
}

_INFLAMED = {
    "adenoid": "adenoiditis",
    "appendix|appendiceal": "appendicitis",
    "arter(?:y|ies)|arterial": "arteritis",
    "(?:biliary|bile) (?:ducts?|tract|tree)": "cholangitis",
    "(?:urinary )?bladder": "cystitis",
    "blood vessels?|vascular": "vasculitis",
    "bone": "osteitis",
    "brain|cerebral": "encephalitis",
    "breasts?|mammary gland": "mastitis",
    "bronch(?:us|i)|bronchial": "bronchitis",
    "bursa|(?:synovial|joint) bursa": "bursitis",
    "cartilage": "chondritis",
    "cervix|uterine cervix|cervix uteri": "cervicitis",
    "colon|colonic|large (?:bowel|intestine)": "colitis",
    "conjunctiva|conjunctival": "conjunctivitis",
    "cornea|corneal": "keratitis",
    "dental pulp": "pulpitis",
    "duodenum|duodenal": "duodenitis",
    "endocardium|endocardial|heart lining": "endocarditis",
    "endometrium|endometrial": "endometritis",
    "epididymis": "epididymitis",
    "epiglottis": "epiglottitis",
    "(?:o?esophagus|o?esophageal)|gullet": "esophagitis",
    "eyelids?": "blepharitis",
    "fallopian tubes?": "salpingitis",
    "(?:f[eo]?etal) membranes?": "chorioamnionitis",
    "gall ?bladder": "cholecystitis",
    "glans(?: penis)?": "balanitis",
    "gums?|gingiva|gingival": "gingivitis",
    "hair follicles?": "folliculitis",
    "heart muscle|myocardium|myocardial": "myocarditis",
    "ileum|ileal": "ileitis",
    "inner ear|internal ear|labyrinth": "labyrinthitis",
    "iris": "iritis",
    "joints?|articular": "arthritis",
    "kidneys?|renal": "nephritis",
    "larynx|laryngeal|voice box": "laryngitis",
    "lips?": "cheilitis",
    "liver|hepatic": "hepatitis",
    "lungs?|pulmonary": "pneumonitis",
    "lymph (?:nodes?|glands?)": "lymphadenitis",
    "lymph(?:atic)? vessels?": "lymphangitis",
    "mastoid(?: process)?(?: of temporal bone)?": "mastoiditis",
    "meninges|meningeal": "meningitis",
    "middle ear": "otitis media",
    "mouth|oral mucosa": "stomatitis",
    "muscles?": "myositis",
    "nasal (?:cavity|mucosa)|nose": "rhinitis",
    "nasopharynx|nasopharyngeal": "nasopharyngitis",
    "nerves?": "neuritis",
    "optic nerve": "optic neuritis",
    "outer ear|external ear|ear canal": "otitis externa",
    "ovar(?:y|ies)|ovarian": "oophoritis",
    "pancreas|pancreatic": "pancreatitis",
    "parotid(?: gland)?": "parotitis",
    "pericardium|pericardial": "pericarditis",
    "periodontium": "periodontitis",
    "peritoneum|peritoneal": "peritonitis",
    "petrous (?:bone|part of temporal bone)": "petrositis",
    "pleura|pleural": "pleuritis",
    "prostate|prostatic": "prostatitis",
    "rectum|rectal": "proctitis",
    "retina|retinal": "retinitis",
    "salivary glands?": "sialadenitis",
    "sclera|scleral": "scleritis",
    "sinus(?:es)?": "sinusitis",
    "(?:zone of )?skin|cutaneous|dermal": "dermatitis",
    "small (?:bowel|intestine)": "enteritis",
    "spinal cord": "myelitis",
    "spleen|splenic": "splenitis",
    "stomach|gastric": "gastritis",
    "synovium|synovial membrane(?: of synovial joint)?": "synovitis",
    "tendons?": "tendinitis",
    "test(?:is|es)|testic(?:le|ular)s?": "orchitis",
    "throat|pharynx|pharyngeal": "pharyngitis",
    "thyroid(?: gland)?": "thyroiditis",
    "tongue": "glossitis",
    "tonsils?|tonsillar": "tonsillitis",
    "trachea|tracheal|windpipe": "tracheitis",
    "urethra|urethral": "urethritis",
    "uvea|uveal": "uveitis",
    "vagina|vaginal": "vaginitis",
    "veins?|venous": "phlebitis",
    "vulva|vulvar": "vulvitis",
}
# What may be inflamed, and the name of it.

_INFLAMMATION = regex(
    r"(?P<how>(?:acute|chronic|subacute) )?(?:inflammation(?: of(?: the| an?)?|,)? (?P<organ>.+)"
    r"|inflamed (?P<inflamed>.+)|(?P<before>.+) inflammation)"
)
_ORGANS = [(regex(organ), name) for organ, name in _INFLAMED.items()]

_OF_BLOOD = frozenset(["pressure", "bp", "volume", "sugar", "fat"])  # where the text says so

_DIRECTION = (
    r"(?:(?P<low>low|lower|lowered|decreased?|reduced|reduction|diminished|fall(?:ing)?|drop)"
    r"|high|higher|elevated|elevation|increased?|raised|rise|rising|excess|excessive)"
)
_AMOUNT = "levels?|concentrations?|counts?|numbers?|amounts?"


def _any_of(table: Mapping[str, object]) -> str:
    """Return an expression for all that is measured, the longest first."""
    return "|".join(sorted("|".join(table).split("|"), key=len, reverse=True))


_FINDING = regex(
    rf"(?:(?:finding|observation) of )?(?:(?:abnormally|very|too) )?{_DIRECTION}(?: in| of)?"
    rf"(?: (?:{_AMOUNT}) of)?"
    rf"(?P<fluid> blood| serum| plasma| circulating)? (?P<what>{_any_of({**_BLOOD, **_NAMED})})s?"
    rf"(?: (?:{_AMOUNT}))?(?P<place>(?: in (?:the )?|, )(?:blood|serum|plasma))?"
)
_HIGH = r"(?:(?:abnormally|very|too) )?(?:high|elevated|increased|raised|excess|excessive)"
_MEASURED = rf"(?P<what>{_any_of(_URINE)})s?(?: (?:{_AMOUNT}))?"
_IN_URINE = regex(rf"(?:{_HIGH} )?{_MEASURED} in (?:the )?urine")
# Without a direction this is a test, and no finding.
_HIGH_IN_URINE = regex(
    rf"{_HIGH} (?:{_MEASURED}(?:,)? urine|(?:urine|urinary) {_MEASURED.replace('what', 'of')})"
)


def finding_name(text: str) -> str:
    """Return what clinicians call a finding in plain words, "" for any other text.

    >>> finding_name("inflammation of the skin"), finding_name("chronic liver inflammation")
    ('dermatitis', 'chronic hepatitis')
    >>> finding_name("low plasma glucose"), finding_name("inflammation marker")
    ('hypoglycemia', '')
    """
    if "inflam" in text.lower():
        match = _INFLAMMATION.fullmatch(" ".join(text.lower().split()))
        organ = (match["organ"] or match["inflamed"] or match["before"]) if match else ""
        name = next((name for pattern, name in _ORGANS if pattern.fullmatch(organ)), "")
        return f"{match['how'] or ''}{name}" if match and name else ""
    return measurement_name(text)


def measurement_name(text: str) -> str:
    """Return what clinicians call a value that is too low or too high; "" for any other text.

    >>> measurement_name("low plasma glucose"), measurement_name("Elevated platelet count")
    ('hypoglycemia', 'thrombocytosis')
    >>> measurement_name("blood in the urine"), measurement_name("low back pain")
    ('hematuria', '')
    >>> measurement_name("high glucose, urine"), measurement_name("low sodium in urine")
    ('glycosuria', '')
    """
    plain = " ".join(text.lower().replace("-", " ").split())
    if match := _IN_URINE.fullmatch(plain) or _HIGH_IN_URINE.fullmatch(plain):
        return _value(_URINE, match.groupdict().get("of") or match["what"]) or ""
    match = _FINDING.fullmatch(plain)
    if match is None:
        return ""
    what, is_low = match["what"], match["low"] is not None
    if what in _OF_BLOOD and not (match["fluid"] or match["place"]):
        return ""
    if names := _value(_NAMED, what):
        return names[0 if is_low else 1]
    return f"{'hypo' if is_low else 'hyper'}{_value(_BLOOD, what)}emia"


def _value(table: Mapping[str, _Value], what: str) -> _Value | None:
    return next((value for words, value in table.items() if what in words.split("|")), None)
