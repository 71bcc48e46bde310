"""Clinical trials in four layouts: the same made-up trial comes out of each."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.types import Document, Mention
from reproduce.readers.aact import read_aact
from reproduce.readers.trials import (
    COLUMNS,
    PHASES,
    Trial,
    make_trial,
    read_trials_json,
    read_trials_table,
    read_trials_xml,
)
from reproduce.trials import select_trials
from tests.tables import tables

TEXT = "Two drugs\nHip Fracture\nPain\nAspirin 100 mg\nBrace"


def mention(start: int, end: int, type_: str) -> Mention:
    return Mention(TEXT[start:end], start, end, type_, (), "any", "NCT1", "Two drugs")


CONDITIONS = (mention(10, 22, "Condition"), mention(23, 27, "Condition"))
INTERVENTIONS = (mention(28, 42, "Drug"), mention(43, 48, "Combination Product"))
DOCUMENT = Document("NCT1", TEXT, (*CONDITIONS, *INTERVENTIONS))
SILVER: dict[str, Any] = {
    "condition_names": ("Hip Fractures", "Pain"),
    "intervention_names": ("Aspirin",),
    "other_names": ("ASA",),
    "keywords": ("hip",),
}

XML = Path(__file__).with_suffix(".xml").read_text("utf-8")
STUDY = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
ROW = [
    *("NCT1", "Two drugs", "Hip Fracture|Pain", "Hip Fractures|Pain"),
    *("Drug:Aspirin 100 mg|Combination Product:Brace", "ASA", "Aspirin", "hip"),
]
AACT = tables(__file__)["aact"]


def aact_folder(folder: Path, **changes: str | None) -> Path:
    for name, content in (AACT | changes).items():
        if content is not None:
            (folder / f"{name}.txt").write_text(content)
    return folder


def test_xml(tmp_path: Path) -> None:
    path = tmp_path / "NCT1.xml"
    path.write_text(XML)
    assert list(read_trials_xml(path)) == [Trial(DOCUMENT, **SILVER)]
    assert list(read_trials_xml(tmp_path)) == [Trial(DOCUMENT, **SILVER)]
    path.write_text(f"<r>{XML}{XML}</r>")
    assert len(list(read_trials_xml(path))) == 2


@pytest.mark.parametrize(
    "content",
    [STUDY, [STUDY], {"studies": [STUDY]}, json.dumps(STUDY) + "\n"],
    ids=["study", "list", "page", "line"],
)
def test_json(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "NCT1.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    expected = Trial(
        DOCUMENT,
        **SILVER,
        condition_ids=("MESH:D006620", "MESH:D010146"),
        intervention_ids=("MESH:D001241",),
    )
    assert list(read_trials_json(path)) == [expected]
    assert list(read_trials_json(tmp_path)) == [expected]


def test_table(tmp_path: Path) -> None:
    path = tmp_path / "trials.tsv"
    path.write_text("\t".join(COLUMNS) + "\n" + "\t".join(ROW) + "\n")
    assert list(read_trials_table(path)) == [Trial(DOCUMENT, **SILVER)]


def test_aact_folder_and_archive(tmp_path: Path) -> None:
    first, second = read_aact(aact_folder(tmp_path))
    assert first == Trial(DOCUMENT, **SILVER)
    assert second == Trial(Document("NCT2", "A long title"))
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as zip_file:
        for name in AACT:
            zip_file.write(tmp_path / f"{name}.txt", f"export/{name}.txt")
    assert list(read_aact(archive)) == [first, second]


def test_aact_without_optional_files(tmp_path: Path) -> None:
    aact_folder(tmp_path, studies=None, keywords=None, intervention_other_names=None)
    (trial,) = read_aact(tmp_path)
    assert trial.document.text == TEXT.replace("Two drugs", "")
    assert (trial.keywords, trial.other_names) == ((), ())
    assert trial.condition_names == ("Hip Fractures", "Pain")


def test_fields_and_pairs() -> None:
    trial = Trial(DOCUMENT, **SILVER)
    assert trial.conditions == CONDITIONS
    assert trial.interventions == INTERVENTIONS
    assert list(trial.pairs()) == [
        *((condition, ("Hip Fractures", "Pain")) for condition in CONDITIONS),
        *((intervention, ("Aspirin",)) for intervention in INTERVENTIONS),
    ]


@pytest.mark.parametrize(
    ("written", "phases"),
    [
        ("PHASE1/PHASE2", ("Phase 1", "Phase 2")),
        ("Phase 2/Phase 3", ("Phase 2", "Phase 3")),
        ("EARLY_PHASE1", ("Early Phase 1",)),
        ("Early Phase 1", ("Early Phase 1",)),
        ("Phase 0", ("Early Phase 1",)),
        ("Phase 4", ("Phase 4",)),
        *((no_phase, ()) for no_phase in ("N/A", "NA", "Not Applicable", "", "Phase 5")),
    ],
)
def test_phases_in_every_spelling(written: str, phases: tuple[str, ...]) -> None:
    assert make_trial("1", "", [], [], phase=written).phases == phases


@pytest.mark.parametrize(
    ("written", "study_type"),
    [
        ("INTERVENTIONAL", "Interventional"),
        ("EXPANDED_ACCESS", "Expanded access"),
        ("Expanded Access", "Expanded access"),
        ("Observational [Patient Registry]", "Observational"),
    ],
)
def test_study_types_in_every_spelling(written: str, study_type: str) -> None:
    assert make_trial("1", "", [], [], study_type=written).study_type == study_type


def test_every_registry_layout_has_study_type_and_phases(tmp_path: Path) -> None:
    (tmp_path / "NCT1.xml").write_text(
        XML.replace(
            "<keyword>",
            "<study_type>Interventional</study_type><phase>Phase 1/Phase 2</phase><keyword>",
            1,
        )
    )
    study = json.loads(json.dumps(STUDY))
    study["protocolSection"]["designModule"] = {
        "studyType": "INTERVENTIONAL",
        "phases": ["PHASE1", "PHASE2"],
    }
    (tmp_path / "NCT1.json").write_text(json.dumps(study))
    aact_folder(
        tmp_path,
        studies="nct_id|brief_title|study_type|phase\n"
        "NCT1|Two drugs|INTERVENTIONAL|PHASE1/PHASE2\n",
        interventions=AACT["interventions"].replace("Combination Product", "COMBINATION_PRODUCT"),
    )
    for read in (read_trials_xml, read_trials_json, read_aact):
        (trial,) = read(tmp_path)
        assert (trial.study_type, trial.phases) == ("Interventional", ("Phase 1", "Phase 2"))
        assert trial.document == DOCUMENT


def some_trials() -> list[Trial]:
    return [
        make_trial(
            "drug",
            "",
            ["Hip fracture"],
            [("Drug", "a")],
            study_type="Interventional",
            phase="Phase 1/Phase 2",
        ),
        make_trial(
            "device",
            "",
            ["Pain"],
            [("Device", "b")],
            study_type="Interventional",
            phase="N/A",
            condition_names=["Back Pain"],
        ),
        make_trial("watched", "", ["Pain"], [("Drug", "c")], study_type="Observational"),
    ]


@pytest.mark.parametrize(
    ("conditions", "ids"),
    [
        ({}, ["drug", "device", "watched"]),
        ({"study_types": ["interventional"]}, ["drug", "device"]),
        ({"phases": PHASES}, ["drug"]),
        ({"phases": ["phase 2"]}, ["drug"]),
        ({"phases": ["Phase 3"]}, []),
        ({"interventions": ["DRUG", "Biological"]}, ["drug", "watched"]),
        ({"conditions": ["pain"]}, ["device", "watched"]),
        ({"conditions": ["back"]}, ["device"]),
        ({"study_types": ["Interventional"], "conditions": ["pain"]}, ["device"]),
    ],
)
def test_trials_meet_every_condition(conditions: dict[str, Any], ids: list[str]) -> None:
    assert [trial.document.id for trial in select_trials(some_trials(), **conditions)] == ids


@pytest.mark.parametrize("asked", [{"study_types": ["Interventional"]}, {"phases": ["Phase 1"]}])
def test_trials_that_do_not_say_their_type_are_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="'NCT1' does not say its study type and phase"):
        list(select_trials([Trial(DOCUMENT)], **asked))
    assert list(select_trials([Trial(DOCUMENT)], interventions=["Drug"])) == [Trial(DOCUMENT)]


def test_a_phase_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'phase 5' is no phase: give one of Early Phase 1"):
        list(select_trials([], phases=["Phase 5"]))


def test_empty_names_are_left_out() -> None:
    trial = make_trial(
        "1", " a  b ", ["", " c\nd "], [("Drug", " "), ("", "e")], keywords=["", "k"]
    )
    assert trial.document.text == "a b\nc d\ne"
    assert [(m.text, m.type) for m in trial.document.mentions] == [
        ("c d", "Condition"),
        ("e", "Intervention"),
    ]
    assert trial.keywords == ("k",)


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("<a>\n<clinical_study><id_info/></clinical_study></a>", 2, "no <nct_id>"),
        ("<a/>", None, "no trial"),
        ("<clinical_study>", 1, "too early"),
    ],
)
def test_bad_xml(tmp_path: Path, content: str, line: int | None, message: str) -> None:
    path = tmp_path / "x.xml"
    path.write_text(content)
    with pytest.raises(ReadError, match=message) as caught:
        list(read_trials_xml(path))
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"studies": []}, "no trial"),
        ({"FullStudy": {}}, "API version 2"),
        ([3], "API version 2"),
        (3, "API version 2"),
        ({"protocolSection": {"identificationModule": {}}}, "nctId"),
        ({"protocolSection": None}, "API version 2"),
    ],
)
def test_bad_json(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ReadError, match=message):
        list(read_trials_json(path))


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        ([["nct", "title"], ["NCT1", "x"]], 1, "conditions, condition_mesh"),
        ([COLUMNS, ROW[:-1]], 2, "7 cells"),
        ([COLUMNS, ["", *ROW[1:]]], 2, "no registry number"),
        ([COLUMNS], None, "no trial"),
    ],
)
def test_bad_tables(tmp_path: Path, rows: list[list[str]], line: int | None, message: str) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    with pytest.raises(ReadError, match=message) as caught:
        list(read_trials_table(path))
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"conditions": None}, "no conditions.txt"),
        ({"conditions": "id|nct_id\n1|NCT1\n"}, "no column 'name'"),
        ({"conditions": "id|name\n1|Pain\n"}, "no column 'nct_id'"),
        ({"interventions": "id|nct_id|intervention_type|name\n1|NCT1\n"}, "line 2: 2 cells"),
        ({"studies": "nct_id|brief_title\nNCT9|x\n"}, "1 trials of the conditions"),
        ({"studies": "nct_id|brief_title\nNCT1|x\nNCT1|y\n"}, "'NCT1' twice"),
    ],
)
def test_bad_aact(tmp_path: Path, changes: dict[str, str | None], message: str) -> None:
    with pytest.raises(ReadError, match=message):
        list(read_aact(aact_folder(tmp_path, **changes)))


def test_aact_without_a_trial(tmp_path: Path) -> None:
    heads = {name: content.partition("\n")[0] + "\n" for name, content in AACT.items()}
    with pytest.raises(ReadError, match="no trial"):
        list(read_aact(aact_folder(tmp_path, **heads)))
    with pytest.raises(ReadError, match=r"no conditions\.txt"):
        list(read_aact(tmp_path / "studies.txt"))


def test_real_trials(data: Path) -> None:
    folder = data / "clinical-trials"
    records = {trial.document.id: trial for trial in read_trials_xml(folder / "xml")}
    table = {trial.document.id: trial for trial in read_trials_table(folder / "trials.tsv.gz")}
    assert (len(records), len(table)) == (39, 6786)
    for trial in table.values():
        for found in trial.document.mentions:
            assert trial.document.text[found.start : found.end] == found.text
    chosen = select_trials(
        records.values(),
        study_types=["Interventional"],
        phases=PHASES,
        interventions=["Biological", "Combination Product", "Drug"],
    )
    assert {trial.study_type for trial in records.values()} == {"Interventional", "Observational"}
    assert len(list(chosen)) == 24
    shared = records.keys() & table.keys()
    assert len(shared) > 20
    agreeing = [records[id_].conditions == table[id_].conditions for id_ in shared]
    assert sum(agreeing) >= len(shared) - 2  # records change between downloads
