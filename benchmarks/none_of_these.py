"""“None of these” without annotations: what a confidence lets through that an index taught itself.

Five terminologies are asked for 500 strings of three kinds that name nothing in them: noise,
phrases of other languages, everyday English. None of their words is in
`canonym.linking.strangers`, from which the confidence learned. Names of another domain are a fourth
kind. Right links are those of names that are taken out, of another draw than the confidence saw; of
MEDIC also those of two test parts. Names with one edit are asked as well.

    python benchmarks/none_of_these.py [--threshold 0.25]
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from canonym import Linker
from canonym.corpora import read_pubtator
from canonym.evaluation.calibration import ece
from canonym.linking import calibration
from canonym.linking.fitting import observe
from canonym.terminology.formats import import_terminology
from record import data_folder, save

N = 500
TERMINOLOGIES = {
    "ICD-10-CM": "icd10cm",
    "MEDIC": "medic-2012/medic_06Jul2012.txt",
    "HPO": "hpo/hp-2014-11-14.obo.gz",
    "UBERON": "uberon/uberon.obo.gz",
    "DrugBank": "drugbank-vocabulary/drugbank_vocabulary.csv.gz",
}
FAR = {
    "ICD-10-CM": "UBERON",
    "MEDIC": "DrugBank",
    "HPO": "DrugBank",
    "UBERON": "DrugBank",
    "DrugBank": "HPO",
}
CORPORA = {"ncbi-disease/test.pubtator": (), "bc5cdr/test.pubtator": ("Disease",)}

# Each with each: an adjective or a first noun, and a noun.
ENGLISH = (
    """
    broken rusty secret local digital private ancient cheap annual noisy striped folding wooden
    second-hand royal portable crowded haunted painted colourful legal political musical romantic
    elegant
    """.split(),  # noqa: SIM905
    """
    ladder bicycle treaty newspaper password carpet lighthouse umbrella orchestra bakery lawyer
    satellite tournament calendar pyramid envelope tractor museum candle sofa
    """.split(),  # noqa: SIM905
)
LANGUAGES = {
    "es": (["la mesa", "el libro", "un árbol", "la ventana", "el barco", "mi hermano"],
           ["pequeña", "de madera", "muy bonito", "del vecino", "nuevo", "en la playa",
            "sin nombre", "más tarde", "de papel", "del domingo", "con música", "abajo"]),
    "fr": (["la table", "le livre", "un arbre", "la fenêtre", "le bateau", "mon frère"],
           ["en bois", "du voisin", "très joli", "à la plage", "sans nom", "plus tard",
            "en papier", "du dimanche", "avec musique", "là-bas", "tout neuf", "perdu"]),
    "de": (["der Tisch", "das Buch", "ein Baum", "das Fenster", "das Schiff", "mein Bruder"],
           ["aus Holz", "vom Nachbarn", "sehr schön", "am Strand", "ohne Namen", "etwas später",
            "aus Papier", "am Sonntag", "mit Musik", "dort unten", "ganz neu", "verloren"]),
    "it": (["il tavolo", "il libro", "un albero", "la finestra", "la barca", "mio fratello"],
           ["di legno", "del vicino", "molto bello", "in spiaggia", "senza nome", "più tardi",
            "di carta", "della domenica", "con musica", "laggiù", "appena comprato", "perduto"]),
    "pt": (["a mesa", "o livro", "uma árvore", "a janela", "o barco", "meu irmão"],
           ["de madeira", "do vizinho", "muito bonito", "na praia", "sem nome", "mais tarde",
            "de papel", "do domingo", "com música", "lá embaixo", "comprado", "perdido"]),
    "cs": (["stůl", "kniha", "strom", "okno", "loď", "můj bratr"],
           ["ze dřeva", "od souseda", "velmi hezký", "na pláži", "beze jména", "později",
            "z papíru", "v neděli", "s hudbou", "tam dole", "úplně nový", "ztracený"]),
    "tr": (["masa", "kitap", "ağaç", "pencere", "gemi", "kardeşim"],
           ["tahtadan", "komşudan", "çok güzel", "plajda", "isimsiz", "daha sonra",
            "kağıttan", "pazar günü", "müzikli", "aşağıda", "yepyeni", "kayıp"]),
    "ru": (["стол", "книга", "дерево", "окно", "корабль", "мой брат"],
           ["из дерева", "от соседа", "очень красиво", "на пляже", "без имени", "позже",
            "из бумаги", "в воскресенье", "с музыкой", "внизу", "совсем новый", "потерян"]),
    "ja": (["机", "本", "木", "窓", "船", "兄"],
           ["は木製です", "は隣の人のです", "がとてもきれい", "は海辺にある", "の名前がない",
            "はまた後で",
            "は紙でできている", "は日曜日に", "と音楽", "は下にある", "は新品だ", "をなくした"]),
    "zh": (["桌子", "书", "树", "窗户", "船", "我哥哥"],
           ["是木头做的", "是邻居的", "很漂亮", "在海边", "没有名字", "晚点再来",
            "是纸做的", "在星期天", "和音乐", "在下面", "是全新的", "不见了"]),
}  # fmt: skip
_CONSONANTS, _VOWELS = "bcdfghjklmnpqrstvwxz", "aeiouy"


def noise(n: int, rng: random.Random) -> list[str]:
    """Return words of consonants and vowels in turn, doubled keys, and digits between letters."""
    found = []
    for i in range(n):
        if i % 3 == 0:
            pairs = range(rng.randint(2, 5))
            found.append("".join(rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in pairs))
        elif i % 3 == 1:
            found.append("".join(rng.choice(_CONSONANTS) * rng.randint(1, 3) for _ in range(4)))
        else:
            letters = rng.choices(_CONSONANTS + _VOWELS + "0123456789", k=rng.randint(5, 12))
            found.append("".join(letters))
    return found


def phrases(pairs: Sequence[tuple[Sequence[str], Sequence[str]]], rng: random.Random) -> list[str]:
    """Return `N` phrases of first and second words."""
    every = [f"{a} {b}" for one, two in pairs for a, b in itertools.product(one, two)]
    return rng.sample(every, N)


def measure(linker: Linker, far: list[str], threshold: float, data: Path) -> dict[str, Any]:
    """Return the share of strings that are NIL, of right links lost, and the calibration."""
    rng = random.Random(1)
    report = linker.fit_confidence()
    kinds = {
        "noise": noise(N, rng),
        "other languages": phrases(list(LANGUAGES.values()), rng),
        "everyday": phrases([ENGLISH], rng),
        "another domain": far,
    }
    found: dict[str, Any] = {"links": int(report["links"])}
    for kind, strings in kinds.items():
        links = linker.link(strings, min_confidence=threshold, k=1)
        found[kind] = round(100 * float(np.mean([link.nil for link in links])), 1)
    confidence, pipeline = linker.confidence, linker.pipeline
    assert confidence is not None
    asked = {"names taken out": calibration.observe_terminology(pipeline, seed=9)}
    if data.name == "MEDIC":
        for path, types in CORPORA.items():
            documents = read_pubtator(data.parent / path)
            asked[path] = observe(pipeline, documents, types=types, features=confidence.features)
    drawn = np.random.default_rng(7).permutation(linker.terminology.n_names)[: 2 * N]
    names = [one for one in linker.terminology.names_at(drawn) if len(one.text) > 6][:N]
    slips = random.Random(2)
    links = linker.link([calibration.misspelt(one.text, slips) for one in names], k=2)
    right = [
        link.confidence
        for link, one in zip(links, names, strict=True)
        if link.candidates and link.candidates[0].id == one.concept_id
    ]
    unsure = [sure < threshold for sure in right if sure is not None]
    found["misspelt"] = {"links": len(unsure), "lost": round(100 * float(np.mean(unsure)), 2)}
    for name, seen in asked.items():
        sure = confidence.predict(seen.features)
        lost = (sure < threshold) & seen.right
        found[name] = {
            "links": len(sure),
            "lost": round(100 * float(lost.sum() / max(seen.right.sum(), 1)), 2),
            "ece": round(ece(sure, seen.right), 4),
        }
    return found


def main() -> None:
    """Index, ask, print and save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--threshold", type=float, default=0.25)
    threshold = parser.parse_args().threshold
    data = data_folder()
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory() as scratch:
        linkers = {}
        for name, source in TERMINOLOGIES.items():
            place = source if source == "icd10cm" else data / source
            terminology = import_terminology(place, Path(scratch) / f"{name}.db")
            linkers[name] = Linker.build(terminology, folder=Path(scratch) / name)
        for name, linker in linkers.items():
            other = linkers[FAR[name]].terminology
            drawn = np.random.default_rng(1).permutation(other.n_names)[:N]
            far = [one.text for one in other.names_at(drawn)]
            rows.append({"terminology": name, **measure(linker, far, threshold, data / name)})
            print(rows[-1], flush=True)
    files = [data / source for source in TERMINOLOGIES.values() if source != "icd10cm"]
    content = {"threshold": threshold, "strings": N, "rows": rows}
    save("none_of_these", content, packages=["numpy"], data=files)


if __name__ == "__main__":
    main()
