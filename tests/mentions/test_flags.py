"""Flags of mentions in English text: negated, historical, hypothetical, family, uncertain."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from canonym import Concept, Linker, Terminology
from canonym.mentions.flags import FLAGS, with_flags
from canonym.types import Mention


def _flags(text: str) -> list[tuple[str, ...]]:
    """Return the flags of the mentions in brackets."""
    bare, mentions = "", []
    for part in re.split(r"(\[[^]]*\])", text):
        if part.startswith("["):
            mentions.append(Mention(part[1:-1], len(bare), len(bare) + len(part) - 2))
        bare += part.strip("[]") if part.startswith("[") else part
    found = with_flags(bare, mentions)
    assert [(one.text, one.start, one.end) for one in found] == [
        (one.text, one.start, one.end) for one in mentions
    ]
    return [one.flags or () for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He denies [chest pain].", ["negated"]),
        ("[Malignancy] is unlikely.", ["negated"]),
        ("[Pneumothorax]: none.", ["negated"]),
        ("Not only [fever] but chills.", []),
        ("Past medical history: [asthma].", ["historical"]),
        ("A [stroke] in 2009.", ["historical"]),
        ("hx of [MI], p/w [chest pain].", [["historical"], []]),
        ("PMH: [HTN], c/o [headache].", [["historical"], []]),
        ("History of [stroke] who presents with [seizure].", [["historical"], []]),
        ("A [stroke] in his fifties.", ["historical"]),
        ("History of present illness: [cough].", []),
        ("[Fever] over the past week.", []),
        ("If you develop [fever], call.", ["hypothetical"]),
        ("Aspirin for [headache] as needed.", ["hypothetical"]),
        ("She should be treated for [gout].", []),
        ("His brother has [gout].", ["family"]),
        ("[Diabetes] in her mother.", ["family"]),
        ("His mother says that he has [fever].", []),
        ("She came with her son because of [vertigo].", []),
        ("Family history of [colon cancer].", ["family"]),
        ("No history of [stroke].", ["negated"]),
        ("Her father never had [gout].", ["negated", "family"]),
        ("Brought in by mom for [fever].", []),
        ("Mom denies [fever].", ["negated"]),
        ("[Albuterol] prn.", []),
        ("Albuterol prn [wheezing].", ["hypothetical"]),
        ("+nausea, -[vomiting]", ["negated"]),
        ("-[fever]\n+cough", ["negated"]),
        ("-[fever]\n-[cough]", [[], []]),  # bullets
        ("post-[vomiting] pain", []),
        ("(-) [chest pain], (+) [dyspnea]", [["negated"], []]),
        ("[Edema] (-).", ["negated"]),
        ("Possible [pneumonia].", ["uncertain"]),
        ("Possible pneumonia with [fever].", []),
        ("[UTI]?", ["uncertain"]),
        ("Do you have [fever]?", []),
        ("[Sinusitis] vs [migraine].", [["uncertain"], ["uncertain"]]),
        ("Cannot exclude [PE].", ["uncertain"]),
        ("[PE] was ruled out.", ["negated"]),
        ("No evidence to suggest [sepsis].", ["negated"]),
        ("Gram negative [sepsis].", []),
        ("[Pneumonia], resolved.", ["historical"]),
        ("The patient was now ruled out for [TB].", ["negated"]),
        ("He subsequently ruled out for an [MI].", ["negated"]),
        ("Troponins ruled him out for [MI].", ["negated"]),
        ("A lumpectomy without radiation or tamoxifen for [cancer].", []),
        ("Pain without radiation to the arm or [sweating].", ["negated"]),
        ("There is no longer any need for repair of his [hernia].", []),
        ("There is no longer any [pneumothorax].", ["negated"]),
        ("Told to call if she has any [redness] or drainage.", ["hypothetical"]),
        ("Seen immediately if any [bleeding] occurs.", ["hypothetical"]),
        ("Return if fever and continue treatment for [asthma].", []),
        ("A history of hypertension and now has [chest pain].", []),
        ("He has not had any further [bleeding].", ["negated"]),
        ("Repeat [MI] in 2018.", ["historical"]),
        ("He was not treated for his [pneumonia].", []),
        ("The history suggests [angina].", ["uncertain"]),
        ("45 year old man with [gout].", []),
    ],
)
def test_words_around_a_mention_say_what_it_is(text: str, expected: list[Any]) -> None:
    several = expected if expected and isinstance(expected[0], list) else [expected]
    assert _flags(text) == [tuple(flags) for flags in several]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A cue begins before a name that says the rest of it.
        ("She has no [history of cancer].", ["negated"]),
        ("No [family history of gout].", ["negated"]),
        ("Negative [family history of gout].", ["negated"]),
        ("High [risk of falls].", []),
        # What a cue is said of stands behind it, or before it at an end.
        ("[Bleeding], r/o [placenta previa].", [[], ["uncertain"]]),
        ("[Chest pain] r/o [MI].", [[], ["uncertain"]]),
        ("[PE], r/o", ["uncertain"]),
        ("[Fever] and [cough], possible [pneumonia].", [[], [], ["uncertain"]]),
        ("[Pneumonia], possible.", ["uncertain"]),
        ("[MI] suspected on the ECG.", ["uncertain"]),
        ("[Gout] was suspected.", ["uncertain"]),
        # Lists that are excluded as a whole.
        ("Those with [asthma], [COPD], or [cancer] were excluded.", [["negated"]] * 3),
        ("[Asthma], [COPD] and [cancer] will be excluded.", [["negated"]] * 3),
        ("Exclusion criteria: [pregnancy], [asthma].", [["negated"]] * 2),
        ("He had [asthma], and [cancer] was excluded.", [[], ["negated"]]),
        # Others.
        ("[Fever] resolved 2 days ago.", ["historical"]),
        ("[Seizures] have not been observed. [Murmur] not heard. [Cough] (no)", [["negated"]] * 3),
        ("Low likelihood of [cancer]; appears to be [cellulitis].", [["uncertain"]] * 2),
        ("No one in the family has [cancer].", ["negated", "family"]),
        ("[Cancer] runs in family.", ["family"]),
        ("Prior [stroke] and current [weakness].", [["historical"], []]),
        ("She did not take her [asthma] medication.", []),
        ("[Chest pain] is no longer present.", ["negated"]),
        ("Doubt [PE].", ["uncertain"]),
        ("His wife has [tuberculosis].", ["family"]),
        ("Wife reports [snoring]. Lives with husband. [Depression].", [[], []]),
    ],
)
def test_how_far_cues_reach(text: str, expected: list[Any]) -> None:
    several = bool(expected) and isinstance(expected[0], list)
    assert _flags(text) == ([tuple(flags) for flags in expected] if several else [tuple(expected)])


def test_words_reach_to_the_end_of_their_sentence_or_to_a_turn() -> None:
    for text, expected in (
        ("No [fever], [cough] or [rash].", [("negated",)] * 3),
        ("No [fever], but [cough].", [("negated",), ()]),
        ("No [fever]; [cough].", [("negated",), ()]),
        ("No [fever]. [Cough].", [("negated",), ()]),
        ("No [fever]\n[Cough]", [("negated",), ()]),
        ("No [fever]\nor [cough].", [("negated",), ("negated",)]),
        ("No [fever]\n\nor [cough].", [("negated",), ()]),
        ("Past [measles], now [rash].", [("historical",), ()]),
    ):
        assert _flags(text) == expected, text


def test_mentions_may_stand_anywhere() -> None:
    assert with_flags("", []) == ()
    assert _flags("[fever]") == [()]
    assert _flags("No hyper[tens]ion.") == [("negated",)]  # inside a word
    assert _flags("No [fever.\n\nOr cough].") == [("negated",)]  # over the end of a sentence
    assert _flags("😀 No [fever].\r\n\tNo 😀 [cough].") == [("negated",)] * 2
    nested = with_flags("No high fever.", [Mention("high fever", 3, 13), Mention("fever", 8, 13)])
    assert [one.flags for one in nested] == [("negated",)] * 2


def test_the_linker_gives_flags_and_moves_nothing(tmp_path: Path) -> None:
    records = [Concept("X:1", "Fever"), Concept("X:2", "Asthma")]
    folder = tmp_path / "index"
    linker = Linker.build(Terminology.build(records), encoders=["chargrams"], folder=folder)
    text = "No fever. His mother had asthma.\nAsthma since May."
    links = linker.annotate(text)
    assert [link.mention.flags for link in links] == [("negated",), ("family",), ()]
    assert [link.status for link in links] == [link.mention.flags for link in links]
    for link in links:
        assert text[link.mention.start : link.mention.end] == link.mention.text
        assert link.to_dict()["status"] == list(link.status)
    ((document, links),) = linker.annotate_documents([text] * 1)
    assert document.mentions == tuple(link.mention for link in links)


def test_all_flags_are_found_in_the_sentences_of_the_benchmark() -> None:
    import flags as benchmark

    sentences = benchmark.read_sentences("flag_sentences")
    assert len(sentences) > 60
    assert {flag for one in sentences for flag in one.flags} == set(FLAGS)
    for one in sentences:
        assert one.text[one.mention.start : one.mention.end] == one.mention.text
    found = benchmark.measured(sentences)
    assert all(found[flag]["precision"][0] > 90 for flag in FLAGS)
    assert all(found[flag]["recall"][0] > 80 for flag in FLAGS)


DENIED = """
not experiencing chest pain, [dyspnea]
He is not reporting fever, [chills]
He has not noticed any swelling, [redness], or warmth
was never diagnosed with diabetes, [hypertension]
I do not believe there is a [pneumonia]
She does not feel that she has [depression]
no suggestion there was [bleeding]
Patient denies he has had any [seizures]
she denies having developed [fever]
no problems with [constipation]
Negative for fever, [chills] due to infection
No masses, [tenderness] noted
no rash or fever, [arthritis]
no fever, chills, [sweats]
No fever, chills, [sweats], or cough
denies fever, chills, nausea, [vomiting] or diarrhea
no masses, [lesions] noted
no fever or chills, nausea or [vomiting]
without edema, [erythema], or discharge from the wound
Denies chest pain, [shortness of breath] on exertion.
Denies chest pain, palpitations, [shortness of breath] at rest.
No fevers, chills, [night sweats] over the past week.
No nausea, [vomiting] since surgery.
Denies any headache, visual changes, [weakness] of the extremities.
Abdomen soft, not distended, no guarding, [rebound].
Abdomen is soft, non-tender, without masses, [hepatosplenomegaly].
He denies fever, has no cough, [wheezing].
No evidence of pneumothorax, [pleural effusion], or consolidation.
No murmurs, rubs, [gallops].
No clubbing, cyanosis, [edema] bilaterally.
There is no erythema, warmth, [drainage] from the incision.
Patient denies dysuria, hematuria, [urinary frequency] during this admission.
Neck supple, no JVD, [lymphadenopathy].
No acute fracture, [dislocation] of the right hip.
No fever, chills, [rash] noted on exam.
Negative for chest pain, dyspnea, [edema] on review of systems.
Lungs clear, no wheezes, [rales] on auscultation.
No polyuria, [polydipsia] in recent months.
She has no diabetes, [hypertension].
denies fever, denies chills, [nausea], vomiting
No tenderness, [swelling] of the left calf.
No hematemesis, melena, [hematochezia] prior to admission.
Denies SI, HI, [hallucinations] at present.
No seizure activity, [loss of consciousness] during the event.
No cough, [wheezing] during sleep.
Denies bleeding, [bruising] of the gums.
Knee is without crepitus, [effusion] about the joint.
No edema, [ulcers] on the feet.
Denies weight loss, [loss of appetite] recently.
No dizziness, [lightheadedness] when standing.
Patient has had no vomiting, [diarrhea] over the weekend.
No hepatomegaly, [splenomegaly] by percussion.
There were no polyps, [masses], ulcerations seen.
Denies fever, chills, sore throat, [ear pain].
No hemoptysis, [hematuria] or other bleeding.
No redness, [itching] around the eyes.
She denied any abdominal pain, [nausea] after meals.
No focal infiltrate, [effusion] on chest x-ray.
No ST elevation, [Q waves] in the inferior leads.
No pulmonary embolism, [right heart strain].
No ischemic changes, [left ventricular hypertrophy].
"""
TOLD_BEHIND_A_DENIAL = """
no pneumonia, [pulmonary edema] with Kerley B lines
no headache or blurry vision, [hypertension] remains poorly controlled
denies hemoptysis, denies night sweats, no sick contacts, [productive cough] with green sputum
lungs hyperinflated without consolidation or effusion, [bullous changes] at both apices
no pneumothorax, [left lower lobe collapse] again seen
denies chest pain, ABG 7.28/72/58, [respiratory failure], started on BiPAP
no fungal elements on PAS, [dermatitis] with eosinophils
tolerated it without complications, pathology returned as [carcinoma] of the larynx
no intratesticular mass, [bilateral hydroceles], larger on right
no erosions on the right, on the left [marginal erosions]
CT shows no fracture, cord ends at L1, [discitis] with phlegmon
walks without difficulty, he continued to have [dizziness]
negative for CK20, a profile which supports the diagnosis of [adenocarcinoma]
denies pain at present, and on questioning admits to [night sweats]
he was unable to give a history, wife reports [hematuria]
no fever, [cough] x 3 days
Denies trauma, [right knee pain] for 2 weeks.
No acute process, [stable cardiomegaly].
No focal deficit, [left arm numbness] since this morning.
No chest pain, [palpitations] started last night.
No fever, [sore throat] with white exudates.
No mass effect, [3 cm meningioma] of the falx.
No infiltrate, [bibasilar atelectasis] unchanged.
Denies injury, [low back pain] worse with bending.
No rash, [joint swelling] both hands.
No fracture, [moderate degenerative changes] of the spine.
No pneumothorax, [small left effusion].
Afebrile, no chills, [productive cough] treated with azithromycin.
No SI, HI, reports [depressed mood].
"""


@pytest.mark.parametrize(
    ("sentence", "flags"),
    [
        *((sentence, ["negated"]) for sentence in DENIED.strip().split("\n")),
        *((sentence, []) for sentence in TOLD_BEHIND_A_DENIAL.strip().split("\n")),
    ],
)
def test_a_denial_reaches_to_the_end_of_its_list(sentence: str, flags: list[str]) -> None:
    assert _flags(sentence) == [tuple(flags)]
