"""The published experiments, whole, on small stand-ins of their data in the same formats."""

from __future__ import annotations

import gzip
import json
import lzma
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym.encoders import path_of
from canonym.terminology import Terminology
from canonym.types import Concept
from reproduce.data import Shelf
from reproduce.files import EXPERIMENTS, Experiment, read_experiment
from reproduce.models import read_models
from reproduce.needs import lacking
from reproduce.run import reproduce
from reproduce.table import Table
from reproduce.training import train_models
from tests.encoders.conftest import make_tiny_bert
from tests.reproduce.equations import (
    check_row,
    coder_pooling,
    correlation,
    few_shot_pooling,
    pooled,
    units,
)
from tests.terminology.readers.test_ctd import CHEMICAL_FIELDS, DISEASE_FIELDS, HEADER
from tests.terminology.readers.test_drugbank import HEADER as DRUGBANK
from tests.terminology.readers.umls_rows import atom, edge

pytest.importorskip("torch")

BIOBERT = "dmis-lab/biobert-base-cased-v1.1"
"""Read by `[CLS]`, where a row does not say otherwise."""

PUBLISHED = sorted(path.stem for path in EXPERIMENTS.glob("*-published.toml"))
PLACES = ["hip", "knee", "hand", "foot", "head", "lung"]
SIGNS = ["fracture", "pain", "tumour", "swelling"]
THINGS = [(f"{s} of {p}", [f"{p} {s}", f"{s} in the {p}"], s) for s in SIGNS for p in PLACES]
PAIRS = "".join(
    f"{THINGS[n][1][n % 2]}\t{THINGS[(5 * n + 3) % len(THINGS)][0]}\t{n * 7 % 10}\n"
    for n in range(len(THINGS))
)
FOLD_TARGETS = Terminology.build(Concept(f"X:{n}", label) for n, (label, *_) in enumerate(THINGS))
LANGUAGES = ["CZE", "FRE", "GER", "ITA", "JPN", "POR", "RUS", "SPA", "DUT", "CHI"]
TYPES = [
    *("Pharmacologic Substance", "Disease or Syndrome", "Neoplastic Process", "Clinical Drug"),
    *("Finding", "Injury or Poisoning"),
]


# --- corpora --------------------------------------------------------------------------------------


def pubtator(
    folder: Path, id_of: Callable[[int], str], types: list[str], absent: Sequence[str] = ()
) -> None:
    """Write three parts, each with other mentions of all concepts.

    With mentions of no concept, the others of the test part are names, so that some are found.
    """
    folder.mkdir()
    for number, (part, form) in enumerate(
        (("train", "the {0}"), ("dev", "a {0}"), ("test", "{0}" if absent else "some {0}"))
    ):
        text, lines = "", []
        for type_ in types:
            for n, (_, synonyms, _) in enumerate(THINGS):
                words = form.format(synonyms[n % 2])
                end = len(text) + len(words)
                lines.append(f"{number}\t{len(text)}\t{end}\t{words}\t{type_}\t{id_of(n)}")
                text += words + ". "
        for words in absent:
            end = len(text) + len(words)
            lines.append(f"{number}\t{len(text)}\t{end}\t{words}\t{types[0]}\t-1")
            text += words + ". "
        body = f"{number}|t|{text.strip()}\n{number}|a|\n" + "\n".join(lines) + "\n\n"
        (folder / f"{part}.pubtator").write_text(body)


def notes(
    folder: Path, part: str, write: Callable[[Path, list[tuple[int, int, str]]], None]
) -> None:
    """Write a folder of a part: one note, and its annotations by `write`."""
    text, spans = "", []
    for n, (_, synonyms, _) in enumerate(THINGS):
        words = f"{part} {synonyms[n % 2]}"
        spans.append((len(text), len(text) + len(words), f"C100{n:04}"))
        text += words + ". "
    (folder / part).mkdir(parents=True)
    (folder / part / f"{part}-1.txt").write_text(text)
    write(folder / part, spans)


def mcn(folder: Path, spans: list[tuple[int, int, str]]) -> None:
    lines = [f"N{n:03}||{cui}||{a}||{b}\n" for n, (a, b, cui) in enumerate(spans)]
    (folder / f"{folder.name}-1.norm").write_text("".join(lines))


def share(folder: Path, spans: list[tuple[int, int, str]]) -> None:
    name = f"{folder.name}-1"
    lines = [f"{name}.txt||Disease_Disorder||{cui}||{a}||{b}\n" for a, b, cui in spans]
    (folder / f"{name}.pipe.txt").write_text("".join(lines))


def tac(folder: Path, part: str) -> None:
    text, mentions, reactions = "", "", ""
    for n, (label, synonyms, _) in enumerate(THINGS):
        words = f"{part} {synonyms[n % 2]}"
        place = f'start="{len(text)}" len="{len(words)}" str="{words}"'
        mentions += f'<Mention id="M{n}" section="S1" type="AdverseReaction" {place}/>'
        term = f'meddra_pt="{label}" meddra_pt_id="100001{n:02}"'
        reactions += f'<Reaction id="AR{n}" str="{words}"><Normalization id="AR{n}.N" {term}/>'
        reactions += "</Reaction>"
        text += words + ". "
    body = f'<Text><Section name="warnings" id="S1">{text}</Section></Text>'
    body += f"<Mentions>{mentions}</Mentions><Relations/><Reactions>{reactions}</Reactions>"
    (folder / part).mkdir(parents=True)
    (folder / part / "LABEL.xml").write_text(f'<Label drug="{part}">{body}</Label>')


def mantra(path: Path) -> None:
    units = ""
    for n, (_, (words, _), _) in enumerate(THINGS):
        entity = f'<e cui="C100{n:04}" grp="DISO" offset="0" len="{len(words)}">{words}</e>'
        units += f'<unit id="u{n}"><text>{words}</text>{entity}</unit>'
    body = f'<Corpus id="c" lang="de"><document id="d">{units}</document></Corpus>'
    path.write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n', encoding="utf-8")


def folds(folder: Path) -> None:
    for fold in ("f_0", "f_1"):
        (folder / fold).mkdir(parents=True)
        standard = "".join(f"X:{n}\t{label}\n" for n, (label, *_) in enumerate(THINGS))
        asked = "".join(f"X:{n}\t{names[0]}\n" for n, (_, names, _) in enumerate(THINGS))
        for part, text in (("train", asked), ("test", asked), ("standard", standard)):
            (folder / fold / f"{part}.txt").write_text(text)


# --- terminologies --------------------------------------------------------------------------------


def ctd(path: Path, fields: str, ids: Callable[[int], str]) -> None:
    rows = []
    columns = fields.split(",")
    kind = columns[0].removesuffix("Name")
    for n, (label, names, _) in enumerate(THINGS):
        parent = f"MESH:{ids(0)}" if n else ""
        cells = {f"{kind}Name": label, f"{kind}ID": f"MESH:{ids(n)}", "ParentIDs": parent}
        cells["Synonyms"] = "|".join(names)
        rows.append("\t".join(cells.get(column, "") for column in columns) + "\n")
    path.parent.mkdir()
    path.write_bytes(gzip.compress((HEADER.format("\t".join(columns)) + "".join(rows)).encode()))


def umls(folder: Path) -> None:
    """Every sign is a child of one disorder, and has a child in each place."""
    folder.mkdir()
    names = [atom("C0012634", "Disorder", best=True, sab="SNOMEDCT_US")]
    edges, types = [], ["C0012634|T047|B2|Disease or Syndrome|AT0||\n"]
    for s, sign in enumerate(SIGNS):
        names.append(atom(f"C005{s:04}", sign, best=True, sab="SNOMEDCT_US"))
        edges.append(edge(f"C005{s:04}", "PAR", "C0012634", sab="SNOMEDCT_US"))
        types.append(f"C005{s:04}|T047|B2|Disease or Syndrome|AT1||\n")
    for n, (label, synonyms, sign) in enumerate(THINGS):
        cui = f"C100{n:04}"
        for sab in ("SNOMEDCT_US", "RXNORM", "MDR"):
            names.append(atom(cui, label, best=sab == "SNOMEDCT_US", sab=sab))
            names += [atom(cui, text, sab=sab) for text in synonyms]
        names.append(atom(cui, f"{label} in words of elsewhere", lat=LANGUAGES[n % len(LANGUAGES)]))
        edges.append(edge(cui, "PAR", f"C005{SIGNS.index(sign):04}", sab="SNOMEDCT_US"))
        edges.append(edge(cui, "RO", f"C100{(n + 1) % len(THINGS):04}", "near"))
        types.append(f"{cui}|T0|B2|{TYPES[n % len(TYPES)]}|AT{n + 9}||\n")
    for name, lines in (
        ("MRCONSO", names),
        ("MRREL", edges),
        ("MRSTY", types),
        ("MRDEF", ["C0012634|A1|AT1||MSH|Ill.|N||\n"]),
    ):
        (folder / f"{name}.RRF").write_text("".join(lines), encoding="utf-8")


def meddra(folder: Path) -> None:
    folder = folder / "MedAscii"
    folder.mkdir(parents=True)
    files = {
        "soc.asc": "10000001$Disorders$D$$$$$$$$\n",
        "meddra_release.asc": "18.1$English$$$$\n",
    }
    files |= {"hlgt.asc": "10000002$Signs$$$$$$$$\n", "hlt.asc": "10000003$Signs$$$$$$$$\n"}
    files |= {"soc_hlgt.asc": "10000001$10000002$\n", "hlgt_hlt.asc": "10000002$10000003$\n"}
    terms, lowest, links = [], [], []
    for n, (label, synonyms, _) in enumerate(THINGS):
        terms.append(f"100001{n:02}${label}$$10000001$$$$$$$$\n")
        links.append(f"10000003$100001{n:02}$\n")
        for m, text in enumerate((label, *synonyms)):
            code = f"100001{n:02}" if m == 0 else f"10{m}001{n:02}"
            lowest.append(f"{code}${text}$100001{n:02}$$$$$$$Y$$\n")
    files |= {"pt.asc": "".join(terms), "llt.asc": "".join(lowest), "hlt_pt.asc": "".join(links)}
    for name, text in files.items():
        (folder / name).write_text(text)


def mesh(path: Path) -> None:
    records = "".join(
        f'<DescriptorRecord DescriptorClass="1"><DescriptorUI>D{n:06}</DescriptorUI>'
        f"<DescriptorName><String>{label}</String></DescriptorName><ConceptList>"
        f'<Concept PreferredConceptYN="Y"><TermList>'
        + "".join(f"<Term><String>{text}</String></Term>" for text in (label, *synonyms))
        + "</TermList></Concept></ConceptList></DescriptorRecord>"
        for n, (label, synonyms, _) in enumerate(THINGS)
    )
    path.parent.mkdir()
    text = f'<?xml version="1.0"?>\n<DescriptorRecordSet>{records}</DescriptorRecordSet>\n'
    path.write_bytes(gzip.compress(text.encode()))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """All that the published experiments need, small."""
    data = tmp_path_factory.mktemp("published")
    (data / "medic-2012").mkdir()
    rows = [f"D{n:06}||{'|'.join((label, *names))}" for n, (label, names, _) in enumerate(THINGS)]
    (data / "medic-2012" / "medic_06Jul2012.txt").write_text("\n".join(rows) + "\n")
    (data / "medic-2012" / "ncbi-spell-check.txt").write_text("tumor||tumour\n")
    ctd(data / "ctd-diseases-2017" / "CTD_diseases.tsv.gz", DISEASE_FIELDS, lambda n: f"D{n:06}")
    ctd(data / "ctd-chemicals-2019" / "CTD_chemicals.tsv.gz", CHEMICAL_FIELDS, lambda n: f"D{n:06}")
    for release in ("umls-2012AB", "umls-2017AB", "umls-2018AB", "umls-2020AA"):
        umls(data / release)
    meddra(data / "meddra-18.1")
    mesh(data / "mesh-2020" / "desc2020.xml.gz")
    (data / "drugbank-2020").mkdir()
    drugs = [f"DB{n:05},,{label},,,{' | '.join(t)},\n" for n, (label, t, _) in enumerate(THINGS)]
    zipped = gzip.compress((DRUGBANK + "".join(drugs)).encode())
    (data / "drugbank-2020" / "drugbank_vocabulary.csv.gz").write_bytes(zipped)
    for name in ("ncbi-disease", "ct-condition-single", "ct-condition-full"):
        pubtator(data / name, lambda n: f"D{n:06}", ["Disease"])
    pubtator(data / "bc5cdr", lambda n: f"D{n:06}", ["Disease", "Chemical"])
    for name in ("ct-intervention-single", "ct-intervention-full"):
        pubtator(data / name, lambda n: f"DB{n:05}", ["Drug"], absent=["water", "talk", "rest"])
    for part in ("train", "dev", "test"):
        notes(data / "share-clef-2013", part, share)
        notes(data / "mcn-2019", part, mcn)
    for part in ("train", "test"):
        tac(data / "tac-2017-adr", part)
    (data / "mantra").mkdir()
    for source, languages in (
        ("Medline", ("de", "es", "fr", "nl")),
        ("EMEA", ("de", "es", "fr", "nl")),
        ("Patent", ("de", "fr")),
    ):
        for language in languages:
            mantra(data / "mantra" / f"{source}_GSC_{language}_man.xml")
    folds(data / "cadec")
    folds(data / "psytar")
    (data / "diseases-database").mkdir()
    related = "".join(
        f"UMLS:C100{n:04}\t{kind}\tUMLS:C100{(n + step) % len(THINGS):04}\n"
        for n in range(len(THINGS))
        for step, kind in ((1, "causes"), (2, "may be"))
    ).encode()
    (data / "diseases-database" / "relations.tsv.gz").write_bytes(gzip.compress(related))
    (data / "icd10-chapters").mkdir()
    groups = {
        sign: [f"{sign} {n} of {place}" for place in PLACES for n in range(6)] for sign in SIGNS
    }
    text = json.dumps(groups).encode()
    (data / "icd10-chapters" / "icd10.json.gz").write_bytes(gzip.compress(text))
    (data / "medline-2016").mkdir()
    sentences = "\n".join(label for label, *_ in THINGS).encode()
    (data / "medline-2016" / "sentences.txt.xz").write_bytes(lzma.compress(sentences * 20))
    for name in ("relatedness/MayoSRS.csv", "relatedness/umnsrs-rel.txt", "ehr-rel/EHR-RelB.txt"):
        (data / name).parent.mkdir(exist_ok=True)
        (data / name).write_text(PAIRS)
    (data / "relatedness" / "umnsrs-sim.txt").write_text(PAIRS)
    return Shelf(data)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small checkpoint as they were published: old names of weights, words but no tokenizer."""
    import torch
    from transformers import BertModel

    folder = make_tiny_bert(tmp_path_factory.mktemp("published") / "new")
    old = tmp_path_factory.mktemp("old")
    weights = BertModel.from_pretrained(folder).state_dict()
    renamed = {
        f"bert.{name}".replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): value
        for name, value in weights.items()
    }
    torch.save(renamed, old / "pytorch_model.bin")
    tokens = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    (old / "vocab.txt").write_text("\n".join(sorted(tokens, key=tokens.__getitem__)) + "\n")
    (old / "config.json").write_text((folder / "config.json").read_text())
    return old


SMALL: dict[str, dict[str, Any]] = {
    # A weight that shows among inner products of tiny vectors.
    "biosyn": {"max_steps": 2, "batch_size": 4, "k": 4, "sparse_weight": 5.0},
    "triplet": {"max_steps": 2, "batch_size": 16},
    "dilbert": {"max_steps": 2, "batch_size": 4, "n_positives": 2},
    "coder": {"max_steps": 2, "batch_size": 8, "repeats": 2, "accumulation": 1},
    "few-shot": {"epochs": 1, "hidden": 8, "n": 2, "samples": 1},
    "word-vectors": {"epochs": 1, "dimensions": 8, "buckets": 50, "min_count": 1},
}


def thinned(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep every fifth of the rows of a dev part, so that each search is run on some corpus.

    A search that is chosen on a dev part has three to choose from.
    """
    on_dev = [row for row in rows if row.get("part") == "dev"]
    left = [row for n, row in enumerate(on_dev) if n % 5 == n // 28]
    rows = [row for row in rows if row.get("part") != "dev"] + left
    return [
        {**row, "search": {"dev": row["search"]["dev"][::5]}}
        if isinstance(row.get("search"), dict)
        else row
        for row in rows
    ]


def small(experiment: Experiment) -> Experiment:
    """Return an experiment whose models are trained for two steps."""
    recipes = {name: one.recipe for name, one in read_models(experiment.models).items()}
    tables = {name: {**table, **SMALL[recipes[name]]} for name, table in experiment.models.items()}
    rows = [{**row, "n_dev": 12} if "n_dev" in row else row for row in experiment.rows]
    rows = [{**row, "epochs": 2} if row.get("finetuned") else row for row in rows]
    return replace(experiment, models=tables, rows=tuple(thinned(rows)))


def test_every_search_is_run_on_the_dev_part_of_some_corpus() -> None:
    rows = thinned(read_experiment("triplet-search-published").rows)
    searches = Counter(row["search"] for row in rows if row.get("part") == "dev")
    assert len(searches) == 14
    assert {row["corpus"] for row in rows if row.get("part") == "dev"} == {
        row["corpus"] for row in rows
    }


def measured(
    experiment: Experiment, shelf: Shelf, checkpoint: Path, folder: Path, rows: Sequence[str] = ()
) -> tuple[Table, Watched, dict[str, Any]]:
    """Train what rows need, run them, and return the table, the encoders and the models."""
    named = {path_of(one) for row in experiment.rows for one in row.get("encoders", ())}
    models = read_models(experiment.models).values()
    named |= {model.start for model in models if model.start}
    outside = sorted(one for one in named - set(experiment.models) if one != "chargrams")
    given = dict.fromkeys(outside, str(checkpoint))
    said: list[str] = []
    trained = train_models(
        experiment, folder, shelf=shelf, rows=rows, given=given, device="cpu", notice=said.append
    )
    watched = Watched(shelf.data)
    table = reproduce(
        experiment,
        data=shelf.data,
        shelf=watched,
        models={**given, **trained},
        rows=rows,
        progress=lambda row, _done, _all: watched.begin(row),
    )
    assert {row.problem for row in table.rows} == {""}, said
    return table, watched, {**given, **trained}


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_table_is_run_whole(
    name: str, shelf: Shelf, checkpoint: Path, tmp_path: Path
) -> None:
    experiment = small(read_experiment(name))
    table, watched, models = measured(experiment, shelf, checkpoint, tmp_path)
    assert all(row.value is not None for row in table.rows)
    for row in experiment.rows:
        check_scoring(name, row, table, watched, str(models.get(path_of(row["encoders"][0]), "")))


@pytest.mark.parametrize(
    ("name", "row", "wrong"),
    [
        ("biosyn-published", "NCBI disease, α = ½", {"similarity": "cosine"}),
        ("biosyn-published", "NCBI disease, α = ½", {"pooling": "mean"}),
        ("biosyn-published", "NCBI disease, α = ½", {"encoders": ["ncbi,sparse_weight=0"]}),
        ("triplet-search-published", "NCBI test, trained on O, O-T", {"similarity": "euclidean"}),
        ("triplet-search-published", "NCBI test, trained on O, O-T", {"pooling": "cls"}),
        ("dilbert-published", "CDR disease, random", {"similarity": "cosine"}),
        ("dilbert-published", "CDR disease, random", {"pooling": "cls"}),
        ("coder-published", "CADEC, synonyms alone", {"pooling": "cls"}),
        ("few-shot-published", "EHR-RelB: BioBERT, baseline", {"encoders": [BIOBERT]}),
    ],
)
def test_a_row_that_is_searched_otherwise_is_told_apart(
    name: str, row: str, wrong: dict[str, Any], shelf: Shelf, checkpoint: Path, tmp_path: Path
) -> None:
    experiment = small(read_experiment(name))
    rows = [{**one, **wrong} if one["name"] == row else one for one in experiment.rows]
    experiment = replace(experiment, rows=tuple(rows))
    table, watched, models = measured(experiment, shelf, checkpoint, tmp_path, [row])
    (changed,) = (one for one in rows if one["name"] == row)
    folder = str(models[path_of(changed["encoders"][0])])
    with pytest.raises(AssertionError):
        check_scoring(name, changed, table, watched, folder)


class Watched(Shelf):
    """A shelf that remembers the encoders that each row opens."""

    def begin(self, row: str) -> None:
        self.row = row

    def encoder(self, given: Any, *, precision: str = "fp32") -> Any:
        encoder = super().encoder(given, precision=precision)
        self.__dict__.setdefault("opened", {}).setdefault(self.row, []).append(encoder)
        return encoder


def check_scoring(
    name: str, row: dict[str, Any], table: Table, shelf: Watched, folder: str
) -> None:
    """Compare what a row ranks with the equation of its paper, from the vectors alone."""
    task, outcome = row.get("task", "link"), table.runs[row["name"]]
    if task == "relatedness":
        pairs = [tuple(line.split("\t")) for line in PAIRS.splitlines()]
        rho = correlation(
            folder, [(a, b, float(c)) for a, b, c in pairs], few_shot_pooling(row["name"])
        )
        assert outcome.value("spearman") == pytest.approx(rho, abs=1e-6)
    elif task in {"mcsm", "relations"}:
        texts = [label for label, *_ in THINGS]
        (encoder,) = shelf.__dict__["opened"][row["name"]]
        expected = units(pooled(folder, texts, coder_pooling(row["name"])))
        np.testing.assert_allclose(encoder.encode(texts), expected, atol=1e-5)
    elif task == "nil":
        (encoder,) = shelf.__dict__["opened"][row["name"]]
        assert encoder.similarity == "euclidean"
    elif row.get("format") == "folds":
        for run in outcome.runs:
            check_row(name, row, run, FOLD_TARGETS, folder)
    else:
        check_row(name, row, outcome, shelf.terminology(row["terminology"]), folder)


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_is_not_here_is_named(name: str, tmp_path: Path) -> None:
    experiment = read_experiment(name)
    table = reproduce(experiment, data=tmp_path)
    assert all(row.problem for row in table.rows)
    models = read_models(experiment.models)
    for model in models.values():
        assert lacking(model, models, Shelf(tmp_path))
