"""Strings that name nothing in any terminology, and of which no judge has seen a word.

None of their words is among the everyday phrases of the rule book.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

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
    strings = []
    for i in range(n):
        if i % 3 == 0:
            pairs = range(rng.randint(2, 5))
            strings.append("".join(rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in pairs))
        elif i % 3 == 1:
            strings.append("".join(rng.choice(_CONSONANTS) * rng.randint(1, 3) for _ in range(4)))
        else:
            letters = rng.choices(_CONSONANTS + _VOWELS + "0123456789", k=rng.randint(5, 12))
            strings.append("".join(letters))
    return strings


def phrases(
    n: int, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], rng: random.Random
) -> list[str]:
    """Return `n` phrases of first and second words."""
    every = [f"{a} {b}" for first, second in pairs for a, b in itertools.product(first, second)]
    return rng.sample(every, n)


def unrelated(n: int, *, seed: int) -> dict[str, list[str]]:
    """Return `n` strings of each kind: noise, phrases of other languages, everyday English.

    >>> {kind: len(strings) for kind, strings in unrelated(2, seed=1).items()}
    {'noise': 2, 'other languages': 2, 'English': 2}
    """
    rng = random.Random(seed)
    return {
        "noise": noise(n, rng),
        "other languages": phrases(n, list(LANGUAGES.values()), rng),
        "English": phrases(n, [ENGLISH], rng),
    }
