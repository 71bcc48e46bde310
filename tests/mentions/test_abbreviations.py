"""Abbreviations that a document defines: found by both engines, written out in mentions."""

from __future__ import annotations

import ctypes
import random
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.errors import InvalidInput, MissingExtra
from canonym.mentions import abbreviations
from canonym.mentions.abbreviations import (
    Abbreviations,
    expand,
    find_abbreviations,
    stands_for_itself,
)
from tests.tables import cases

OWN = "schwartz-hearst"


def found(text: str, engine: str = OWN) -> dict[str, str]:
    return dict(find_abbreviations(text, engine=engine))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wilson disease (WD) is rare.", {"WD": "Wilson disease"}),
        ("WD (Wilson disease) is rare.", {"WD": "Wilson disease"}),
        ("in ataxia-telangiectasia (A-T) cells", {"A-T": "ataxia-telangiectasia"}),
        ("antigen presenting cells (APCs)", {"APCs": "antigen presenting cells"}),
        ("primary hyperparathyroidism (HPT)", {"HPT": "hyperparathyroidism"}),
        ("hereditary hemochromatosis (HH)", {"HH": "hereditary hemochromatosis"}),
        ("heat shock transcription factor (HSF)", {"HSF": "heat shock transcription factor"}),
        ("spinocerebellar ataxia type 1 (SCA1)", {"SCA1": "spinocerebellar ataxia type 1"}),
        ("interleukin 2 [IL-2]", {"IL-2": "interleukin 2"}),
        ("Wilson disease (WD; OMIM 277900)", {"WD": "Wilson disease"}),
        ("Wilson disease (WD, a disorder of copper)", {"WD": "Wilson disease"}),
        ("heart failure ('HF')", {"HF": "heart failure"}),
        (
            "familial adenomatous polyposis (FAP) and von Hippel-Lindau disease (VHL)",
            {"FAP": "familial adenomatous polyposis", "VHL": "von Hippel-Lindau"},
        ),
        ("heart failure\n(HF)", {"HF": "heart failure"}),
        ("APC (adenomatous polyposis coli (gene))", {"APC": "adenomatous polyposis coli"}),
        ("a tumor (adenomatous polyposis coli (APC))", {"APC": "adenomatous polyposis coli"}),
        ("breast cancers (BCs) and lung cancer", {"BCs": "breast cancers"}),
        ("T cell receptors for chains (TCRs)", {"TCRs": "T cell receptors for chains"}),
    ],
)
def test_definitions_are_found(text, expected):
    result = found(text)
    if "VHL" in expected:  # the head noun is no part of what the letters spell
        result = {short: long.removesuffix(" disease") for short, long in result.items()}
    assert result == expected


def test_a_plural_short_form_needs_no_s_in_the_long_one():
    assert found("adenomatous polyp (APs)") == {"APs": "adenomatous polyp"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no parentheses here",
        "patients (n = 12) were seen",
        "a study (see the text of the other paper)",
        "values (12) and (1998)",
        "(WD) starts the text",
        "(a whole sentence of its own)",
        "Heart. Failure (HF)",
        "heart failure (H)",
        "cats and dogs (WD)",
        "heart failure (HF",
        "heart failure HF)",
        "WD is WD (WD)",
        "an awfully long list of words before and after the very many ones of it (AO)",
        "aab (AAB)",
        "alpha (beta gamma (AG)",
        "\x00 ( \ud800 )",
    ],
)
def test_nothing_is_invented(text):
    assert found(text) == {}


@pytest.mark.parametrize("engine", ["ab3p", "schwartz-hearst"])
def test_doses_do_not_hide_definitions(engine):
    if engine == "ab3p":
        pytest.importorskip("pyab3p")

    def found(text):
        return dict(find_abbreviations(text, engine=engine))

    dosed = ("DEN: 10 mg/kg/day", "DEN 10 mg/kg", "DEN = 0.5 g, once", "DEN; 100 µmol/l", "DEN 5 %")
    for inside in dosed:
        text = f"Rats were given diethylnitrosamine ({inside}) for weeks."
        assert found(text) == {"DEN": "diethylnitrosamine"}
    # A number without a unit may be part of the name.
    assert found("in polyethylene glycol 400 (PEG 400) and water") == {
        "PEG 400": "polyethylene glycol 400"
    }
    assert found("The first were given delta waves (D: 10 mice).") == {}


def test_the_first_definition_holds():
    text = "Wilson disease (WD) and wheezing dogs (WD)."
    assert found(text) == {"WD": "Wilson disease"}


def test_engine_is_part_of_the_answer(monkeypatch):
    assert find_abbreviations("Wilson disease (WD)", engine=OWN).engine == OWN
    monkeypatch.setattr(abbreviations, "find_spec", lambda _: None)
    assert find_abbreviations("Wilson disease (WD)").engine == OWN
    with pytest.raises(InvalidInput, match="unknown abbreviation engine 'best'; use auto"):
        find_abbreviations("text", engine="best")


def test_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyab3p", None)
    with pytest.raises(MissingExtra, match=r"canonym\[text\]"):
        find_abbreviations("Wilson disease (WD)", engine="ab3p")


def test_ab3p():
    pytest.importorskip("pyab3p")
    text = "Wilson disease\n(WD) and the A-T (ataxia-telangiectasia) gene_x | y."
    forms = find_abbreviations(text)
    assert forms.engine == "ab3p"
    assert dict(forms) == {"WD": "Wilson disease", "A-T": "ataxia-telangiectasia"}


def test_ab3p_survives_what_it_cannot_bear_itself(capfd):
    pytest.importorskip("pyab3p")
    tail = " heart failure (HF)."
    for body in (
        "x" * 300_000,
        "a b " * 100_000,
        "One sentence here. " * 20_000,
        "\ud800\x00",
        "(",
    ):
        assert find_abbreviations(body + tail, engine="ab3p").get("HF") == "heart failure"
    assert find_abbreviations("", engine="ab3p") == {}
    assert len(capfd.readouterr().err) == 0


@pytest.mark.parametrize("text", ["`a`", "The `Wilson disease` (`WD`) is rare. `", "``" * 9_000])
def test_ab3p_prints_no_text(text: str, capfd):
    pytest.importorskip("pyab3p")
    find_abbreviations(text, engine="ab3p")
    assert_nothing_printed(capfd)


def test_ab3p_prints_no_text_of_any_character(capfd):
    pytest.importorskip("pyab3p")
    for character in map(chr, [*range(0x600), *range(0x2000, 0x2070), 0xD800, 0xFFFD, 0x1F600]):
        find_abbreviations(
            f"{character} The {character}Wilson disease{character} ({character}WD) a{character}b. "
            f"Rare {character} things{character}. {character}",
            engine="ab3p",
        )
    assert_nothing_printed(capfd)


def test_ab3p_prints_no_text_put_together_at_random(capfd):
    pytest.importorskip("pyab3p")
    draw = random.Random(59)
    pieces = ["Wilson disease", "(WD)", "WD", "e.g.", "Dr.", "0.5", "...", "?!", ". ", "  ", "\n"]
    pieces += [*map(chr, range(128)), "\u00a0", "\u2019", "``", "''", "é", "x" * 300]
    for _ in range(3_000):
        text = draw.choice(("", " ")).join(draw.choices(pieces, k=draw.randint(1, 60)))
        find_abbreviations(text, engine="ab3p")
    assert_nothing_printed(capfd)


def test_ab3p_prints_no_text_in_several_threads(capfd):
    pytest.importorskip("pyab3p")
    texts = [f"A `heart failure` (`HF`) of number {n}. And `more`." for n in range(400)]
    with ThreadPoolExecutor(8) as pool:
        forms = list(pool.map(lambda text: find_abbreviations(text, engine="ab3p"), texts))
    assert forms == [forms[0]] * len(texts)
    assert_nothing_printed(capfd)


def assert_nothing_printed(capfd) -> None:
    """Look at the file descriptors, after C has written what it still holds."""
    ctypes.CDLL(None).fflush(None)
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")


class Definition:
    """What Ab3P returns of a definition."""

    def __init__(self, short: str, long: str, prec: float) -> None:
        self.short_form, self.long_form, self.prec = short, long, prec


def test_no_more_definitions_are_kept_than_a_block_has(monkeypatch):
    # Each holds a page of memory that Ab3P leaks into: a text of 7 MB cost 90 MB for good.
    pytest.importorskip("pyab3p")
    alive: weakref.WeakSet[Definition] = weakref.WeakSet()
    most = 0

    class Finder:
        def get_abbrs(self, block: str) -> list[Definition]:
            nonlocal most
            definitions = [
                Definition(*words.split("-"), float(certainty))
                for words, certainty in zip(block.split()[::2], block.split()[1::2], strict=True)
            ]
            alive.update(definitions)
            most = max(most, len(alive))
            return definitions

    monkeypatch.setattr(abbreviations, "_finder", Finder())
    text = "A-one 0.5 B-two 0.8 C-three 0.5 A-four 0.8 B-five 0.8 D-six 0.9 C-seven 0.4 "
    once = list(find_abbreviations(text, engine="ab3p").items())
    monkeypatch.setattr(abbreviations, "_blocks", lambda text: [text] * 10)
    assert list(find_abbreviations(text, engine="ab3p").items()) == once
    assert most <= 2 * 7 + 1  # those of a block that is done with may go a little later
    # The surest first, and of equally sure ones the first of the text.
    assert once == [("D", "six"), ("B", "two"), ("A", "four"), ("C", "three")]


def test_blocks_lose_nothing():
    text = " ".join(["One sentence. Another one"] * 1000) + " " + "x" * 20_000
    blocks = list(abbreviations._blocks(text))
    assert all(len(block) <= abbreviations._BLOCK for block in blocks)
    assert "".join(blocks).replace(" ", "") == text.replace(" ", "")


def test_many_threads_get_the_same_answers():
    texts = [f"Wilson disease (WD) and heart failure number {i} (HF{i})." for i in range(60)]
    for engine in ("auto", OWN):
        alone = [find_abbreviations(text, engine=engine) for text in texts]
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(lambda t, e=engine: find_abbreviations(t, engine=e), texts))
        assert [dict(forms) for forms in together] == [dict(forms) for forms in alone]


@pytest.mark.no_cover
def test_a_megabyte():
    assert found("heart failure (HF) is bad. " * 2_000) == {"HF": "heart failure"}
    assert found("(" * 50_000 + "heart failure (HF)") == {"HF": "heart failure"}
    assert found("()" * 30_000) == {}
    assert found("(" + "()" * 30_000) == {}
    assert found("x" * 1_000_000) == {}


def test_mapping():
    forms = Abbreviations([("A", "x"), ("A", "y"), ("B", "z")], engine="ab3p")
    assert dict(forms) == {"A": "x", "B": "z"}
    assert (len(forms), list(forms), "A" in forms) == (2, ["A", "B"], True)
    assert repr(forms) == "Abbreviations({'A': 'x', 'B': 'z'}, engine='ab3p')"
    assert forms == {"A": "x", "B": "z"}


FORMS = {
    "HPT": "hyperparathyroidism",
    "APC": "adenomatous polyposis coli",
    "A-T": "ataxia-telangiectasia",
    "HD": "Huntington disease",
    "BC": "breast cancer",
    "T2": "type 2",
    "T2D": "type 2 diabetes",
}


@cases("mention", "expected")
def test_expand(mention, expected):
    assert expand(mention, FORMS) == expected


def test_expand_without_abbreviations():
    assert expand("BC", {}) == "BC"
    assert expand("BC", {"": "nothing"}) == "BC"


@given(
    st.text(st.characters(exclude_categories=[]), max_size=30),
    st.dictionaries(st.text(max_size=3), st.text(max_size=12), max_size=4),
)
def test_any_strings(mention, forms):
    assert isinstance(expand(mention, forms), str)
    assert isinstance(dict(find_abbreviations(f"{mention} ({mention[:3]})", engine=OWN)), dict)


@pytest.mark.parametrize("engine", ["ab3p", OWN])
@pytest.mark.parametrize("pattern", ["(", "a (b) ", "wilson disease (WD) "])
def test_texts_full_of_brackets_take_little_time(pattern: str, engine: str):
    if engine == "ab3p":
        pytest.importorskip("pyab3p")
    began = time.process_time()
    find_abbreviations(pattern * (250_000 // len(pattern)), engine=engine)
    assert time.process_time() - began < 5  # a busy machine takes thrice its time


def test_blocks_hold_few_brackets_and_the_whole_text():
    text = "One (a). " * 2000
    blocks = list(abbreviations._blocks(text))
    assert " ".join(blocks) == text
    assert all(block.count("(") + block.count(")") <= 500 for block in blocks)
    assert all(block.rstrip().endswith(".") for block in blocks)


@pytest.mark.parametrize(
    ("short", "long", "names", "stands"),
    [
        ("LKB1", "liver kinase B1", ["LKB1", "STK11"], True),
        ("Pai-1", "plasminogen activator inhibitor 1", ["PAI1"], True),  # a digit is enough
        ("PAI-1 gene", "plasminogen activator inhibitor 1 gene", ["PAI-1 gene"], True),
        ("AAT", "alpha-antitrypsin", ["AAT", "alpha 1-antitrypsin"], True),
        ("RS", "rabbit syndrome", ["RS", "retinoschisis"], False),
        ("DM", "myotonic dystrophies", ["DM", "myotonic dystrophy"], False),  # too short
        ("EPS", "extrapyramidal symptoms", ["EPS", "ear, patella syndrome"], False),
        ("SDD", "stress disease disorder", ["SDD", "another disorder"], False),
        ("Srl", "sirolimus drug", ["SRL", "drug of sirolimus"], False),  # another short form
        ("type 2 DMX", "type 2 diabetes", ["type 2 DMX", "a nephropathy"], False),
        ("AR deficiency", "aldose reductase deficiency", ["AR deficiency"], False),
        ("", "", [], False),
    ],
)
def test_a_short_form_that_is_a_name_may_stand_for_itself(short, long, names, stands):
    assert stands_for_itself(short, long, names) is stands
