"""Normalisation steps that look at whole words.

They expect text that has been through ``case`` and leave capitals alone. Each errs on the side of
doing nothing: a name and a mention both get the same treatment, so two
spellings of one word have to meet, and two different words must not.
"""

from __future__ import annotations

import re
from functools import lru_cache

from canonym.regex import regex

# --- possessives ----------------------------------------------------------------------------------

# "crohn s disease" has lost its apostrophe; "protein S deficiency" and "(S)-isomer" never had one.
# So a lone s goes only between something that can own a disease and a disease.
_NOT_OWNERS = (
    "allele|antigen|blood|cathepsin|chain|class|coagulation|factor|form|genotype|glutathione|grade|"
    "group|ha?emoglobin|hepatitis|interleukin|locus|phase|protein|serotype|stage|strain|subtype|"
    "subunit|type|variant|vitamin"
)
_OWNED = (
    "an(?:a)?emi|angin|anomal|ataxi|carcinom|chore|contractur|dement|diseas|disorder|diverticul|"
    "dystroph|encephalopath|epilep|granulom|lymphom|macroglobulin|malformation|neuropath|neurom|"
    "nodul|o?esophag|ophthalmopath|pals|paralys|phenomen|sarcom|sclero|sequence|sign|syndrom|"
    "tetralog|thyroid|tremor|triad|trilog|tumou?r|ulcer|vertig"
)
_OWNERS = (
    "addison|alzheimer|asperger|crohn|cushing|hashimoto|hodgkin|huntington|parkinson|sjogren|"
    "tourette|wilson"
)
_POSSESSIVE = regex(
    r"(?<=[^\W\d_])(?:'s)+(?!\w)"
    rf"|(?<!\w)(?!(?:{_NOT_OWNERS})(?!\w))(?P<owner>[^\W\d_]{{3,}})(?:[\W_]+s)+(?=[\W_]+(?:{_OWNED}))"
    rf"|(?<!\w)(?P<last>{_OWNERS})(?:[\W_]+s)+(?=[\W_]*$)"
)
_LONE_S = regex(r"[\W_]s(?!\w)")


def possessive(text: str) -> str:
    """Drop the possessive s: ``'s`` always, a lone s where a disease follows its discoverer.

    A plural possessive (``Graves'``) keeps its s for the plural step.

    >>> possessive("parkinson's disease, crohn s disease, protein s deficiency")
    'parkinson disease, crohn disease, protein s deficiency'
    """
    if _LONE_S.search(text) is None:
        return text
    return _POSSESSIVE.sub(lambda match: match["owner"] or match["last"] or "", text)


# --- British and American spelling ----------------------------------------------------------------

# Each rule: a pattern and its replacement. Rules are tried on every word of four letters or more.
_SPELLINGS: tuple[tuple[str, str], ...] = (
    (r"(?<!extr)aem(?!b|ot)", "em"),  # haemorrhage, anaemia, ischaemia
    (r"^oe(dem|soph|str)", r"e\1"),
    (r"ooe(dem|soph|str)", r"oe\1"),
    (r"(myx|lymph|papill|lip)oedem", r"\1edem"),  # but angioedema is American
    (r"(anti|inyl|oxy)oestr", r"\1estr"),
    (r"(rrh|pn)oe([ai])", r"\1e\2"),  # diarrhoea, dyspnoea
    (r"amoeb", "ameb"),
    (r"homoeo", "homeo"),
    (r"coel(ia|om)", r"cel\1"),
    (r"foet(?=[aiou])", "fet"),
    (r"paed(?=i|o)", "ped"),
    (r"^aetio", "etio"),
    (r"(?<!e)aesth", "esth"),
    (r"(f|c|gyn)aec(?=[aeiou]|$)", r"\1ec"),  # faeces, caecum, gynaecology
    (r"^caes(?=[aiu])", "ces"),
    (r"^naev(?=[iou])", "nev"),
    (r"^palaeo", "paleo"),
    (r"(tum|col|hum|lab|fav|flav|vap|rum|rig|behavi|harb|neighb|\bod)our", r"\1or"),
    (r"(fib|lit|met|tit|cent|calib|goit)re(s?)$", r"\1er\2"),
    (r"sulph", "sulf"),
    (r"leuc(?=o(?!v)|em)", "leuk"),
    (r"(\w\w[aeiou][lrntd]|andom|mptom)is(e|es|eds?|ers?|ings?)$", r"\1iz\2"),
    (r"is(ations?)$", r"iz\1"),
    (r"(paral|catal|rol|dial|anal)ys(eds?|ings?|ers?)$", r"\1yz\2"),
    (r"aneurism", "aneurysm"),
    (r"manoeuvre", "maneuver"),
    (r"^alfa$", "alpha"),
    (r"^disc(s?)$", r"disk\1"),
    (r"^grey$", "gray"),
    (r"^mould", "mold"),
    (r"^ageing$", "aging"),
    (r"^programme(s?)$", r"program\1"),
)
_SPELLING_RULES = [(regex(before), after) for before, after in _SPELLINGS]
_WORD = regex(r"(?<![^\W_])[a-z]{4,}(?![^\W_])")
# Looking for these first spares most words some thirty regular expressions.
_SPELLING_HINT = regex(
    "ae|oe|our|ulph|leuc|[iy]s[eia]|re(?:s?$)|ism|^(?:alfa|disc|grey|moul|ageing|programme)"
)


@lru_cache(maxsize=1 << 17)
def _american(word: str) -> str:
    if _SPELLING_HINT.search(word) is None:
        return word
    for pattern, after in _SPELLING_RULES:
        word = pattern.sub(after, word)
    return word


def spelling(text: str) -> str:
    """Write British spellings the American way.

    >>> spelling("haemorrhagic oedema of a tumour, generalised diarrhoea")
    'hemorrhagic edema of a tumor, generalized diarrhea'
    """
    return _WORD.sub(lambda match: _american(match[0]), text)


# --- plurals --------------------------------------------------------------------------------------

_SAME_WORDS = (
    "accumbens agitans aids albicans always anopheles ards asbestos ascites atlas axis "
    "bacteroides bends bias biceps canvas caries chagas chaos christmas danlos deferens deformans "
    "dens diabetes dissecans ehlers elegans erysipelas facies feces forceps fulminans gas herpes "
    "hives hopkins hydrops interrogans iris langerhans lens lues measles melas meninges menkes "
    "menses mers migrans mods mohs mumps mutans nares neoformans nigricans obliterans "
    "oligohydramnios ossificans pancreas pars penetrans perfringens perstans phyllodes "
    "polyhydramnios pons psoas pubes quadriceps rabies rickets sachs sapiens sars scabies series "
    "shingles sids species stapes stevens tabes texas trans tremens triceps ulcerans vas yaws"
)
_SAME = frozenset(_SAME_WORDS.split())
_IRREGULAR_PAIRS = (
    "appendices:appendix axes:axis bacilli:bacillus bacteria:bacterium bronchi:bronchus "
    "bursae:bursa calculi:calculus calices:calix calyces:calyx cervices:cervix children:child "
    "cicatrices:cicatrix cortices:cortex criteria:criterion crises:crisis "
    "diverticula:diverticulum emboli:embolus feet:foot fistulae:fistula fungi:fungus "
    "ganglia:ganglion headaches:headache helices:helix indices:index larvae:larva lenses:lens "
    "lice:louse maculae:macula matrices:matrix men:man mice:mouse nuclei:nucleus nevi:nevus "
    "ova:ovum papillae:papilla petechiae:petechia phalanges:phalanx phenomena:phenomenon "
    "sepses:sepsis stigmata:stigma stimuli:stimulus striae:stria teeth:tooth "
    "testes:testis thrombi:thrombus toes:toe tubuli:tubulus ulcera:ulcer varices:varix "
    "verrucae:verruca vertebrae:vertebra vertices:vertex women:woman"
)
_IRREGULAR = dict(pair.split(":") for pair in _IRREGULAR_PAIRS.split())
_PLURAL_RULES: tuple[tuple[str, str], ...] = (
    (r"omata$", "oma"),  # carcinomata
    (r"itides$", "itis"),  # arthritides
    (r"(st|ct|i)ases$", r"\1asis"),  # metastases, bronchiectases, candidiases
    (r"(^(?:d|n|r|h|p|cl)|overd|luc|uct|act|purp)oses$", r"\1ose"),
    (r"oses$", "osis"),  # thromboses
    (r"([hlmnrt])eses$", r"\1esis"),  # prostheses
    (r"(l|ph)yses$", r"\1ysis"),  # analyses
    (r"aches$", "ache"),
    (r"(ss|sh|ch|x)es$", r"\1"),
    (r"([ao]|^|ab|f|c)uses$", r"\1use"),
    (r"uses$", "us"),  # viruses
    (r"(\w\w\w)ies$", r"\1y"),
    (r"(\w\wo)es$", r"\1"),
    (r"([^siu])s$", r"\1"),
)
_PLURALS = [(regex(pattern), after) for pattern, after in _PLURAL_RULES]
_PLURAL_WORD = regex(r"(?<![^\W_])[a-z]{4,}(?![^\W_])|(?<![^\W_])(?:men|ova)(?![^\W_])")


@lru_cache(maxsize=1 << 17)
def _singular(word: str) -> str:
    if word in _SAME or word.endswith("monas"):
        return word
    single = _IRREGULAR.get(word, word)
    if single is word and word.endswith(("s", "omata")):
        for pattern, after in _PLURALS:
            single, n_changed = pattern.subn(after, word)
            if n_changed:
                break
    # Terminologies pluralise plurals ("diverticulas"), so look again.
    return single if single == word else _singular(single)


def plural(text: str) -> str:
    """Write English and medical plurals in the singular.

    Words that only look like plurals (diabetes, virus, abscess, measles) stay.

    >>> plural("neuropathies, carcinomas, diagnoses and metastases in diabetes")
    'neuropathy, carcinoma, diagnosis and metastasis in diabetes'
    """
    return _PLURAL_WORD.sub(lambda match: _singular(match[0]), text)


# --- numerals -------------------------------------------------------------------------------------

_UNITS = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
ROMAN = {
    tens * "x" + unit: str(10 * tens + i)
    for tens in range(4)
    for i, unit in enumerate(_UNITS)
    if tens or i
}
_COUNTED = (
    "categor(?:y|ie)s?|class(?:es)?|complex(?:es)?|factors?|forms?|grades?|groups?|levels?|phases?|"
    "stages?|subtypes?|types?|variants?"
)
# i, v and x alone are numbers only after a word that is counted, xx and xxx never (chromosomes).
_NUMERAL = regex(
    r"(?<![^\W_])(?:"
    rf"(?P<counted>(?:{_COUNTED})[\W_]+)(?P<any>x{{0,3}}(?:ix|iv|v?i{{0,3}}))(?P<letter>[a-d]?)"
    r"|(?P<long>x{0,3}(?:ix|iv|vi{1,3}|i{2,3})|x{1,3}v)(?P<suffix>(?<=ii)[a-d])?"
    r")(?![^\W_])"
)


def numerals(text: str) -> str:
    """Write Roman numerals up to 39 as Arabic ones.

    ``i``, ``v`` and ``x`` are read as numbers only after a counting word such as *type*, *stage*,
    *factor*; ``c``, ``d``, ``l``, ``m`` never are.

    >>> numerals("type i, factor v, stage iiib, mucolipidosis ii, fragile x, hepatitis c")
    'type 1, factor 5, stage 3b, mucolipidosis 2, fragile x, hepatitis c'
    """
    return _NUMERAL.sub(_arabic, text)


def _arabic(match: re.Match[str]) -> str:
    if match["counted"]:
        if not match["any"]:
            return match[0]
        return f"{match['counted']}{ROMAN[match['any']]}{match['letter']}"
    return f"{ROMAN[match['long']]}{match['suffix'] or ''}"


# --- word order -----------------------------------------------------------------------------------


def inversion(text: str) -> str:
    """Turn a name with inverted parts (as in MeSH: ``Abdomen, Acute``) the natural way round.

    >>> inversion("Carcinoma, Squamous Cell, Oral")
    'Oral Squamous Cell Carcinoma'
    """
    if ", " not in text:
        return text
    parts = [part.strip() for part in text.split(", ")]
    return " ".join(part for part in reversed(parts) if part)


_FILLERS = frozenset(("of", "the"))


def fillers(text: str) -> str:
    """Drop *of* and *the*, unless nothing else is left.

    >>> fillers("cancer of the breast")
    'cancer breast'
    """
    words = text.split(" ")
    return " ".join([word for word in words if word not in _FILLERS]) or text


def order(text: str) -> str:
    """Sort the words.

    >>> order("breast cancer stage 2")
    '2 breast cancer stage'
    """
    return " ".join(sorted(text.split()))
