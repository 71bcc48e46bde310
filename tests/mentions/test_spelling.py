"""Correction of words towards a terminology's own."""

from __future__ import annotations

import functools
import itertools
import mmap
import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.errors import ReadError
from canonym.mentions import spelling
from canonym.mentions.near_words import signature
from canonym.mentions.slips import first_letters, is_one_edit, sounds_like
from canonym.mentions.spelling import Speller, SpellerWriter, read_spelling_list
from canonym.text import PLAIN, normalise_all
from tests.tables import cases, tables

TABLES = tables(__file__)
NAMES = TABLES["names"]


@pytest.fixture(scope="module")
def speller():
    return Speller.build(NAMES)


@cases("given", "corrected")
def test_one_edit_is_undone(speller, given, corrected):
    assert speller.correct(given) == corrected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hypertension",  # known
        "carcinomas",  # a plural of a known word
        "Hypertensions",
        "hypretention",  # two edits
        "rarewort",  # only one name has it
        "HYPERTENSSION",  # an abbreviation, for all one can tell
        "lumg",  # too short
        "carcin0ma",  # a digit
        "myocardial\ud800",
        "Sjögren",  # a diacritic is no mistake
    ],
)
def test_the_rest_is_left_alone(speller, text):
    assert speller.correct(text) == text


def test_other_scripts(speller):
    assert speller.correct("心筋梗塞症候群") == "心筋梗塞症候群病"


def test_of_several_words_the_clearly_more_frequent_one():
    names = [f"patella {i}" for i in range(6)] + [f"patelle {i}" for i in range(2)]
    assert Speller.build(names).correct("patellx") == "patella"
    assert (
        Speller.build([*names, *(f"patelle b{i}" for i in range(2))]).correct("patellx")
        == "patellx"
    )


def test_membership_and_length(speller):
    words = {"myocardial", "hypertension", "sjogren", "rareword", "of"}
    assert all(word in speller for word in words)
    assert not any(word in speller for word in ("", "zzz", "aaa", "hypertensio", "\ud800"))
    assert len(speller) == len({w for n in NAMES for w in spelling.normalise(n).split()})


def test_empty_vocabulary():
    speller = Speller.build([])
    assert len(speller) == 0
    assert speller.correct("hypertension") == "hypertension"


def test_saved_and_opened_again(speller, tmp_path):
    speller.save(tmp_path)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".npy"] * 4
    start = time.perf_counter()
    opened = Speller.load(tmp_path)
    assert time.perf_counter() - start < 0.5
    texts = ["myocardail infarction", "hypertenssion", "hypertension"]
    assert [opened.correct(text) for text in texts] == [speller.correct(text) for text in texts]
    assert all(isinstance(one.base, mmap.mmap | np.memmap) for one in opened._arrays.values())


def test_opening_what_is_not_there(speller, tmp_path):
    with pytest.raises(ReadError, match="build the index again"):
        Speller.load(tmp_path)
    speller.save(tmp_path)
    (tmp_path / "counts.npy").write_bytes(b"not an array")
    with pytest.raises(ReadError, match="cannot be opened"):
        Speller.load(tmp_path)


def test_a_damaged_word_is_told_when_it_is_met(tmp_path):
    Speller.build(["infarction", "infarction"]).save(tmp_path)
    np.save(tmp_path / "letters.npy", np.frombuffer(b"infarctio\xff", np.uint8))
    with pytest.raises(ReadError, match=r"letters\.npy: holds a word that is no text"):
        Speller.load(tmp_path).correct("infarctiom")


def test_many_threads(speller):
    texts = [f"myocardail hypertenssion {i}" for i in range(200)]
    alone = [speller.correct(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(speller.correct, texts)) == alone


def naive_distance(a: str, b: str) -> int:
    if not a or not b:
        return len(a) + len(b)
    options = [
        naive_distance(a[:-1], b) + 1,
        naive_distance(a, b[:-1]) + 1,
        naive_distance(a[:-1], b[:-1]) + (a[-1] != b[-1]),
    ]
    if len(a) > 1 and len(b) > 1 and a[-1] == b[-2] and a[-2] == b[-1]:
        options.append(naive_distance(a[:-2], b[:-2]) + 1)
    return min(options)


@given(st.text("abc", max_size=5), st.text("abc", max_size=5))
def test_one_edit_is_a_naive_distance_of_one(a, b):
    is_near = naive_distance(a, b) == 1 or (a != b and b in moved_by_two(a))
    assert is_one_edit(a, b) == is_one_edit(b, a) == is_near


def moved_by_two(word: str) -> set[str]:
    cuts = [(word[:i], word[i : i + 3], word[i + 3 :]) for i in range(len(word) - 2)]
    return {
        before + moved + after
        for before, three, after in cuts
        for moved in (three[2] + three[:2], three[1:] + three[0])
    }


def single_edits(word: str, letters: str) -> set[str]:
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    edits = {before + after[1:] for before, after in cuts}
    edits |= {before + after[1::-1] + after[2:] for before, after in cuts} | moved_by_two(word)
    for letter in letters:
        edits |= {before + letter + after for before, after in cuts}
        edits |= {before + letter + after[1:] for before, after in cuts if after}
    return edits - {word}


def consonants(word):
    letters = {byte & 31 for byte in word.encode()}  # a is 1
    sibilants, silent = ({ord(letter) & 31 for letter in text} for text in ("ckqsxz", "aeiouyhwpf"))
    return letters - sibilants - silent, bool(letters & sibilants)


class NaiveWords:
    """Looks up every single edit of a word; `letters` are all there are."""

    def __init__(self, counts, letters):
        self.counts, self.letters = counts, letters

    @functools.cache  # noqa: B019
    def one_edit_from(self, word):
        near = []
        for known in self.counts.keys() & single_edits(word, self.letters):
            own, other = (signature(text.encode()) for text in (known, word))
            # A letter of another script in place of an ASCII one is no slip.
            is_slip = (own ^ other).bit_count() <= (2 if word.isascii() else 8)
            if is_slip and (word[0] == known[0] or word[:2] == known[1::-1]):
                near.append((self.counts[known], known))
        return sorted(near, key=lambda pair: (-pair[0], pair[1]))

    def sounding_like(self, word):
        near = [
            (count, known)
            for known, count in self.counts.items()
            if known[0] in first_letters(word)
            and abs(len(known) - len(word)) <= 3
            and consonants(known) == consonants(word)
            and sounds_like(word, known)
        ]
        return sorted(near, key=lambda pair: (-pair[0], pair[1]))


class NaiveSpeller(Speller):
    def __init__(self, arrays, letters):
        super().__init__(arrays)
        counts = {
            self._word(place).decode(): count
            for place, count in enumerate(arrays["counts"].tolist())
        }
        self._frequent, self._rare = (
            NaiveWords({word: n for word, n in counts.items() if (n >= 2) is frequent}, letters)
            for frequent in (True, False)
        )


@pytest.mark.parametrize("letters", ["abcdefgh", "abcdжβ心𐐨"])
def test_thousands_of_random_mistakes_have_the_corrections_of_a_naive_speller(letters):
    chance = random.Random(letters)

    def slip(word):
        return chance.choice(sorted(single_edits(word, letters)))

    words = ["".join(chance.choices(letters, k=chance.randint(4, 9))) for _ in range(6)]
    for _ in range(60):
        words.append(slip(chance.choice(words)))
    mistakes = [slip(chance.choice(words)) for _ in range(700)]
    mistakes += [slip(mistake) for mistake in mistakes]
    quick = Speller.build(f"{word} {n}" for word in words for n in range(chance.randint(1, 5)))
    naive = NaiveSpeller(quick._arrays, letters)
    ranked = [quick._frequent.one_edit_from(word) for word in mistakes]
    corrected = [quick.correct(word) for word in mistakes]
    guessed = [quick.guesses(word) for word in mistakes]
    assert ranked == [naive._frequent.one_edit_from(word) for word in mistakes]
    assert corrected == [naive.correct(word) for word in mistakes]
    assert guessed == [naive.guesses(word) for word in mistakes]
    assert sum(len(found) > 1 for found in ranked) > 80
    assert sum(word != mistake for word, mistake in zip(corrected, mistakes, strict=True)) > 80
    assert sum(len(guesses) > 0 for guesses in guessed) > 50


def test_every_single_edit_of_a_word_is_found_but_for_those_of_its_ends(speller):
    word = "myocardial"
    edits = {word[:i] + word[i + 1 :] for i in range(1, len(word))}
    edits |= {word[:i] + "z" + word[i:] for i in range(1, len(word))}
    edits |= {word[:i] + "é" + word[i + 1 :] for i in range(1, len(word))}
    edits |= {word[:i] + "ж" + word[i + 1 :] for i in range(1, len(word))}
    edits |= {word[:i] + b + a + word[i + 2 :] for i, (a, b) in enumerate(itertools.pairwise(word))}
    assert {speller.correct(edit) for edit in edits if edit != word} == {word}
    others = ["yocardial", "zmyocardial", "zyocardial", "myocardialz", "myocardialb"]
    assert [speller.correct(other) for other in others] == others


@given(st.sampled_from(["hypertension", "myocardial", "rupture"]), st.characters(categories=["L"]))
def test_a_letter_is_never_taken_from_the_end(word, letter):
    speller = Speller.build(NAMES)
    glued = word + letter
    assert speller.correct(glued) == glued
    assert word not in speller.guesses(glued)


@cases("text", "corrected")
def test_the_first_letter_stays_and_codes_do(text, corrected):
    names = ["3,4-Xylenol", "3,5-Xylenol", "Macular degeneration", "Retinal degeneration",
             "Bearing pain", "Acute bearing", "McArdle disease", "McArdle syndrome", "Acute pain",
             "Acute poisoning", "Poisoning"]  # fmt: skip
    found = Speller.build(names).correct(text)
    assert found.lower() == corrected.lower()


def test_alone_a_short_word_is_guessed_to_be_one_of_more_names():
    others = [f"{a}{b}{c}" for a, b, c in itertools.product("bcdfgklmnp", repeat=3)]
    names = ["fever", "hay fever", "cough", "dry cough", "whooping cough", "high cough"]
    small, large = Speller.build(names), Speller.build([*names, *others])
    assert (small.guesses("feber"), large.guesses("feber")) == (("fever",), ())
    assert small.guesses("cugh") == large.guesses("cugh") == ()
    assert small.guesses("couhg") == large.guesses("couhg") == ("cough",)
    assert small.guesses("hay feber") == large.guesses("hay feber") == ("hay fever",)


@given(st.text(st.characters(exclude_categories=[]), max_size=40))
def test_any_string(text):
    corrected = Speller.build(NAMES).correct(text)
    assert isinstance(corrected, str)
    assert corrected != "" or text == ""


def test_reading_a_list(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("bactermia||bacteremia\n\n fist || first \n", "utf-8")
    assert read_spelling_list(path) == {"bactermia": "bacteremia", "fist": "first"}


@pytest.mark.parametrize(
    ("content", "problem", "line"),
    [
        (b"a||b\nno mark\n", "not of the form", 2),
        (b"||b\n", "not of the form", 1),
        (b"a||\n", "not of the form", 1),
        (b"a||b||c\n", "not of the form", 1),
        (b"a||\xff\n", "not UTF-8", 1),
        (None, "there is no such file", None),
    ],
)
def test_reading_a_bad_list(tmp_path, content, problem, line):
    path = tmp_path / "list.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ReadError, match=problem) as caught:
        read_spelling_list(path)
    assert caught.value.line == line


def test_on_real_mistakes(data):
    lines = (data / "medic-2012" / "medic_06Jul2012.txt").read_text("utf-8").splitlines()
    speller = Speller.build(name for line in lines for name in line.split("||")[-1].split("|"))
    listed = read_spelling_list(data / "medic-2012" / "ncbi-spell-check.txt")
    answers = [(speller.correct(wrong), wrong, right) for wrong, right in listed.items()]
    assert sum(answer == right for answer, _, right in answers) >= 20
    assert sum(answer not in (wrong, right) for answer, wrong, right in answers) == 0


# --- guesses --------------------------------------------------------------------------------------

SHORT = TABLES["short"]


@pytest.fixture(scope="module")
def guesser():
    return Speller.build(SHORT)


@cases("text", "guesses")
def test_guesses(guesser, text, guesses):
    assert guesser.guesses(text) == guesses


def test_frequent_words_are_guessed_first_and_not_all():
    names = [f"{word} {number}" for word in ("fact", "face", "fade", "fate", "fame", "fare", "cafe")
             for number in ("one", "two")] + ["fate three"]  # fmt: skip
    found = Speller.build(names).guesses("fale one")
    assert found[0] == "fate one"
    assert len(found) == 5
    assert "fact one" not in found  # two edits


@cases("text", "guesses")
def test_what_sounds_alike_is_guessed(text, guesses):
    words: tuple[str, ...]
    words = "hemorrhage", "pneumonia", "schizophrenia", "bronchitis", "carbamazepine", "crohn"
    words += ("microgyria",)
    speller = Speller.build([f"{word}{more}" for word in words for more in ("", " of kind")])
    assert speller.guesses(text) == guesses


@cases("text", "guesses")
def test_a_word_of_everyday_english_is_not_corrected(text, guesses):
    words = "nuclear cataract", "serous otitis", "infections of the eye", "miliary fever", "weather"
    speller = Speller.build([f"{word}{more}" for word in words for more in ("", " of kind")])
    assert speller.correct(text) == text
    assert speller.guesses(text) == guesses


@pytest.mark.parametrize("memory", [1, 3000, 10**8])
def test_it_is_written_in_any_memory_as_it_is_saved(tmp_path: Path, memory: int) -> None:
    names = [*NAMES, "β-thalassaemia 2 alpha", "Heart, heart and HEART", *NAMES[:2]]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    Speller.build(names).save(whole)
    writer = SpellerWriter(parts, memory)
    for name in names:
        writer.add(normalise_all([name], PLAIN))
    writer.finish()
    assert {path.name: path.read_bytes() for path in parts.iterdir()} == {
        path.name: path.read_bytes() for path in whole.iterdir()
    }


def test_words_of_an_earlier_one_are_added_and_taken_away(tmp_path: Path) -> None:
    earlier = Speller.build(["heart attack", "heart failure", "cough"])
    writer = SpellerWriter(tmp_path, 10**6)
    writer.add_words(earlier.words())
    writer.add(["cough", "heart failure"], -1)
    writer.add(["panic attack"])
    writer.finish()
    expected = Speller.build(["heart attack", "panic attack"])
    assert list(Speller.load(tmp_path).words()) == list(expected.words())
    assert list(expected.words()) == [(b"attack", 2), (b"heart", 1), (b"panic", 1)]


def test_a_beginning_of_contrary_words_is_completed_by_none() -> None:
    names = ["Hypertensive crisis", "Internal hernia", "Bacterial pneumonia", "Left hernia"]
    speller = Speller.build(names)
    assert [speller.completions(word) for word in ("hyp", "int", "bact")] == [
        (),
        (),
        ("bacterial",),
    ]
    assert speller.completions("hypert") == ("hypertensive",)  # it is clear by now
    assert [speller.completions(word) for word in ("BACT", "ba", "hernia")] == [()] * 3


def test_a_letter_that_should_stand_twice_is_the_likeliest_slip() -> None:
    names = ["Contusion of head", "Contusion of knee", "Contusion", "Concussion", "Mild concussion"]
    speller = Speller.build(names)
    assert speller.correct("concusion of head") == "concussion of head"
    assert speller.correct("contusoin of head") == "contusion of head"
