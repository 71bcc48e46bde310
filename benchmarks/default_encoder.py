"""Worth of each choice in the recipe of the default encoder: one change at a time.

The first stage is made once, the later stages once for each variant, from the training parts alone
and with fewer neighbours than the shipped encoder. "As chosen" and its changes are measured before
the last stage; variants of that stage are separate. The measures are, on development parts:
BioSyn's mentions and dictionaries, merged and alone; chemicals of BC5CDR against MeSH, likewise;
everyday names in ICD-10-CM; and BioSyn's mentions with one slip of a letter each, dictionary alone.
The share of distinct strings stands beside that of mentions, where a frequent one outweighs many.

    python benchmarks/default_encoder.py [--only VARIANT]...

No variant has a teacher: `domains.py` measures what one brings.
``results/default-encoder/variants.json`` grows by each.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from canonym.encoders.subword import Subword
from canonym.terminology import Terminology
from canonym.training.sampling.mentions import training_mentions
from canonym.training.sampling.noise import NOISE
from canonym.training.subword.fit_subword import fit_subword
from inputs import documents_of
from models.asking import ASKING, asking
from models.make_default import (
    ASKED,
    FINISH,
    MENTION_SHARE,
    OPTIONS,
)
from models.mixture import Mixture, read_mixture
from models.sources import read_mesh
from record import data_folder, parser, save, settings_of
from subword_accuracy import (
    CORPORA,
    Asked,
    everyday,
    read_asked,
    read_dictionary,
    shares,
)

SEARCHED = 250_000
RESULT = Path(__file__).parent / "results" / "default-encoder" / "variants.json"

VARIANTS = settings_of(__file__)
"""Changes to the recipe by name."""


class Measure:
    """The development parts, read once."""

    def __init__(self, data: Path) -> None:
        self.dictionaries = {
            (corpus, kind): read_dictionary(
                data / "biosyn-processed" / corpus / f"{part}_dictionary.txt.gz"
            )
            for corpus in CORPORA
            for kind, part in (("merged", "dev"), ("alone", "train"))
        }
        self.asked: dict[str, Asked] = {
            corpus: read_asked(data / "biosyn-processed" / corpus / "dev.concept")
            for corpus in CORPORA
        }
        mesh = Terminology.build(read_mesh(data))
        found = {
            part: training_mentions(documents_of("bc5cdr", part), mesh, types=("Chemical",)).pairs
            for part in ("train", "dev")
        }
        names = [(name.text, {name.concept_id}) for name in mesh.iter_names()]
        learned = [(text, set(ids)) for text, ids in dict.fromkeys(found["train"])]
        for kind, given in (("merged", names + learned), ("alone", names)):
            self.dictionaries["chemicals", kind] = (
                [name for name, _ in given],
                [ids for _, ids in given],
            )
        self.asked["chemicals"] = [([text], frozenset(ids)) for text, ids in found["dev"]]
        rng = np.random.default_rng(0)
        self.slipped: dict[str, Asked] = {
            corpus: [
                ([" ".join(NOISE["slip"](part.split(" "), rng)) for part in parts], ids)
                for parts, ids in self.asked[corpus]
            ]
            for corpus in CORPORA
        }

    def __call__(self, encoder: Subword) -> dict[str, Any]:
        """Measure an encoder."""
        found: dict[str, Any] = {}
        for (corpus, kind), dictionary in self.dictionaries.items():
            vectors = encoder.encode(dictionary[0])
            found[f"{corpus}, {kind}"] = shares(encoder, vectors, dictionary, self.asked[corpus])
            if kind == "alone" and corpus in self.slipped:
                slipped = shares(encoder, vectors, dictionary, self.slipped[corpus])
                found[f"{corpus}, with slips"] = slipped
        lay = everyday(encoder)
        found["everyday names"] = {"top-1": lay["top-1"], "top-5": lay["top-5"]}
        own = [found[f"{corpus}, {kind}"] for corpus, kind in self.dictionaries]
        found["mean"] = {
            kind: round(float(np.mean([one[kind] for one in own])), 2)
            for kind in ("mentions", "strings")
        }
        return found


def fitted(mixture: Mixture, **options: Any) -> Subword:
    """Fit an encoder to the names of a mixture."""
    weights = {"weights": mixture.weights, "name_weights": mixture.name_weights}
    options = {**weights, "sources": mixture.sources, **options}
    return fit_subword(mixture.names, mixture.concepts, **options)


def ask(start: Subword, mixture: Mixture, data: Path, change: dict[str, Any]) -> Subword:
    """Make the last steps with a change."""
    kinds = {**ASKING, **{what: change.pop(what) for what in ASKING if what in change}}
    return fitted(
        mixture,
        related=mixture.related,
        start=start,
        mention_queries=asking(data, ("train",), kinds),
        **{**ASKED, **change},
    )


def finish(
    start: Subword,
    mixture: Mixture,
    change: dict[str, Any],
    data: Path,
) -> Subword:
    """Make the second stage with a change."""
    change = dict(change)
    asked = change.pop("asking", None)
    if asked is not None:
        chosen = finish(start, mixture, {"quantise": False}, data)
        return ask(chosen, mixture, data, dict(asked))
    options = {**FINISH, "searched": SEARCHED, "seed": change.pop("seed", 0)}
    related = mixture.related if change.pop("related", True) else None
    weights = mixture.name_weights
    if change.pop("alike", False):
        of_concepts = mixture.weights[mixture.concepts]
        mentioned = (weights != 1) & (of_concepts > 0)
        each = (weights * of_concepts)[mentioned].mean()
        weights = np.where(mentioned, each / np.maximum(of_concepts, 1e-9), 1.0)
    options |= {"name_weights": weights, "related": related, "start": start}
    return fitted(mixture, **{**options, **change})


def main() -> None:
    """Measure the variants and write the result."""
    arguments = parser(__doc__)
    arguments.add_argument("--only", action="append", default=[], choices=tuple(VARIANTS))
    options = arguments.parse_args()
    data = data_folder()
    measure = Measure(data)
    names = read_mixture(data, parts=(), log=print)
    start = fitted(names, quantise=False, **OPTIONS)
    del names
    whole = read_mixture(data, parts=("train",), mention_share=MENTION_SHARE, log=print)
    found = json.loads(RESULT.read_text())["variants"] if RESULT.exists() else {}
    if not options.only:
        found = {"the names' stage": {"change": {}, **measure(start.quantised())}}
    for name, given in VARIANTS.items():
        if options.only and name not in options.only:
            continue
        change = dict(given)
        share = change.pop("mention_share", MENTION_SHARE)
        mixture = whole
        if share != MENTION_SHARE:
            mixture = read_mixture(data, parts=("train",), mention_share=share)
        encoder = finish(start, mixture, change, data)
        found[name] = {"change": given, **measure(encoder)}
        print(name, found[name], flush=True)
        chosen = {
            **FINISH,
            "mention_share": MENTION_SHARE,
            "mentions ask": {**ASKED, **ASKING},
        }
        RESULT.parent.mkdir(exist_ok=True)
        save(
            "default-encoder/variants",
            {"chosen": chosen, "searched": SEARCHED, "variants": found},
            packages=["numpy", "scipy"],
        )
    print(f"written to {RESULT.name}")


if __name__ == "__main__":
    main()
