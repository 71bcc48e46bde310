"""Strings of the same words: which mean the same, and in which words stand beside others."""

from __future__ import annotations

import pytest

from canonym import Concept, Linker, Terminology
from canonym.exchange.mappings import mappings_of
from canonym.mentions.contrasts import against, differs_in_meaning

MOVED = [
    ("ER-positive, HER2-negative tumor", "HER2-positive, ER-negative tumor"),
    ("CD3-positive, CD19-negative cell", "CD19-positive, CD3-negative cell"),
    ("CD34+CD38- cell", "CD34- CD38+ cell"),
    ("CD4+ CD8- thymocyte", "CD8+ CD4- thymocyte"),
    ("low calcium and high phosphate", "high calcium and low phosphate"),
    ("increased protein with decreased glucose", "decreased protein with increased glucose"),
    ("left knee pain and right hip pain", "right knee pain and left hip pain"),
    (
        "fracture of left radius, sprain of right ankle",
        "sprain of left ankle, right radius fracture",
    ),
    ("cataract of right eye; glaucoma of left eye", "glaucoma of right eye; cataract of left eye"),
    ("blindness left eye, normal vision right eye", "blindness right eye, normal vision left eye"),
    ("mild asthma with severe rhinitis", "severe asthma with mild rhinitis"),
    ("acute bronchitis with chronic sinusitis", "chronic bronchitis with acute sinusitis"),
    ("small testes and large ears", "large testes and small ears"),
    ("benign nevus and malignant melanocytoma", "malignant nevus and benign melanocytoma"),
    ("wound with fracture without infection", "wound without fracture with infection"),
    ("unspecified injury of other muscles", "other injury of unspecified muscles"),
    ("upper lobe mass, lower lobe nodule", "lower lobe mass, upper lobe nodule"),
    ("maternal diabetes and paternal gout", "paternal diabetes and maternal gout"),
    ("congenital cataract, acquired deafness", "acquired cataract, congenital deafness"),
    ("open radius and closed ulna fracture", "closed radius and open ulna fracture"),
    ("arterial thrombosis with venous ulcer", "venous thrombosis with arterial ulcer"),
    ("metastasis from brain to lung", "metastasis from lung to brain"),
    ("transfer from ward to clinic", "transfer from clinic to ward"),
    ("conversion of lactate to pyruvate", "conversion of pyruvate to lactate"),
    ("phosphorylation of MAP2K1 by MAPK1", "phosphorylation of MAPK1 by MAP2K1"),
    ("reflux caused by asthma", "asthma caused by reflux"),
    ("influenza following pneumonia", "pneumonia following influenza"),
    ("pregnancy before diabetes", "diabetes before pregnancy"),
    ("albumin/creatinine ratio", "creatinine/albumin ratio"),
    ("high AST/ALT ratio", "high ALT/AST ratio"),
]
SAME = [
    ("pain in left and right knee", "right and left knee pain"),
    ("hereditary motor and sensory neuropathy", "hereditary sensory and motor neuropathy"),
    ("left cataract, right glaucoma", "right glaucoma, left cataract"),
    ("low calcium and high phosphate", "high phosphate and low calcium"),
    ("HER2-negative, ER-positive tumor", "ER-positive, HER2-negative tumor"),
    ("right lower and left upper lobe", "left upper and right lower lobe"),
    ("acute and chronic sinusitis", "chronic and acute sinusitis"),
    ("severe rhinitis with mild asthma", "mild asthma with severe rhinitis"),
    ("chronic left knee pain", "left chronic knee pain"),
    ("upper and lower limb weakness", "weakness of lower and upper limb"),
    ("wound without infection, with fracture", "wound with fracture, without infection"),
    ("increased glucose, decreased protein", "protein decreased, glucose increased"),
]


@pytest.mark.parametrize(("mention", "name"), MOVED)
def test_what_was_moved_means_something_else(mention: str, name: str) -> None:
    for pair in ((mention, name), (name, mention)):
        assert differs_in_meaning(*pair)
        assert against(*pair).contradictions


@pytest.mark.parametrize(("mention", "name"), SAME)
def test_what_is_in_another_order_means_the_same(mention: str, name: str) -> None:
    for pair in ((mention, name), (name, mention)):
        assert not differs_in_meaning(*pair)
        assert not against(*pair).contradictions


@pytest.mark.parametrize(("mention", "name"), [*MOVED[:8], *MOVED[20:26]])
def test_it_is_never_stated_as_the_same(mention: str, name: str) -> None:
    linker = Linker.build(Terminology.build([Concept("X:1", name), Concept("X:2", "gout")]))
    (link,) = linker.link([mention])
    assert all(mapping.relation != "equal" for mapping in mappings_of(link))
    assert (link.confidence or 0) < 0.85 or link.nil
