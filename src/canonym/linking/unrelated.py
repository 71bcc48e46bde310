"""Strings that stand for no biomedical concept: everyday phrases, other languages, and noise.

A confidence that is fitted without annotations learns from them what a link to nothing looks like.
"""

from __future__ import annotations

import random

EVERYDAY: tuple[str, ...] = tuple(
    """
    quantum chromodynamics, stock market crash, tax return, chocolate cake, car insurance,
    supreme court ruling, medieval castle, jazz saxophone solo, violin concerto, football match,
    olympic games, solar panel, steam engine, railway station, hotel reservation, wedding dress,
    birthday party, income statement, board of directors, software licence, operating system,
    web browser, keyboard shortcut, programming language, linear algebra, differential equation,
    prime numbers, roman empire, french revolution, presidential election, prime minister,
    parliament building, city council, garden furniture, kitchen table, washing machine,
    vacuum cleaner, leather shoes, winter jacket, mountain bike, rental contract, mortgage rate,
    bank account, credit card debt, exchange rate, gold price, oil pipeline, wind turbine,
    electric car, bus ticket, airport security, boarding pass, passport control, beach holiday,
    camping site, chess tournament, video game console, science fiction novel, poetry reading,
    oil painting, marble statue, film festival, theatre play, opera house, rock band,
    guitar chord, drum kit, apple pie, tomato soup, roast chicken, pasta salad, bread recipe,
    cheese sandwich, rice cooker, pizza delivery, shopping list, customer service, delivery time,
    return policy, gift voucher, discount code, office chair, meeting room, annual report,
    project manager, job interview, salary increase, labour union, retirement plan,
    primary school, university degree, homework assignment, final exam, library card,
    history lesson, spelling mistake, foreign language, dictionary entry, newspaper article,
    radio station, television series, weather forecast, heavy rain, sunny afternoon, ocean current,
    river bank, mountain peak, forest path, rose garden, dog leash, cat food, horse race,
    bird cage, space station, moon landing, black hole, galaxy cluster, asteroid belt,
    telescope lens, magnetic field, copper wire, steel bridge, concrete wall, wooden floor,
    glass window, roof tile, front door key, police station, fire truck, court hearing,
    prison sentence, speeding ticket, copyright claim, patent office, trade agreement,
    customs duty, shipping container, cargo ship, fuel price, parking lot, traffic jam,
    highway exit, bicycle lane, train delay, best regards, see you tomorrow, thank you very much,
    please call back, not applicable, none of the above, to be confirmed, see attached file
    """.replace("\n", " ").split(",")
)  # fmt: skip
"""Phrases of everyday English."""

OTHER_LANGUAGES: tuple[str, ...] = tuple(
    """
    el perro duerme en la casa, me gusta bailar salsa, la casa blanca, buenos días señor,
    el coche rojo, una cerveza fría, je ne sais pas, le chat noir, bonjour tout le monde,
    une tasse de café, le train est en retard, guten morgen, der schnelle zug,
    ich habe keine zeit, das alte haus, ein bier bitte, die katze schläft, wo ist der bahnhof,
    buongiorno a tutti, la macchina nuova, il gatto nero, non lo so, vorrei una pizza, bom dia,
    o gato preto, uma casa grande, dobrý den, černá kočka, nový dům, kde je nádraží, iyi günler,
    kara kedi, yeni araba, доброе утро, чёрная кошка, новый дом, где вокзал, 你好世界, 黑色的猫,
    新房子, 火车站在哪里, こんにちは, 黒い猫, 新しい家, 駅はどこですか, goede morgen,
    de zwarte kat, het nieuwe huis, den svarta katten, hyvää huomenta, musta kissa,
    dzień dobry, czarny kot, nowy dom
    """.replace("\n", " ").split(",")
)  # fmt: skip
"""Everyday phrases of other languages."""

_LEAST = 4  # letters of a word of a pair
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SYLLABLES = tuple(
    """
    ba be bi bo bu ca ce da de di do fa fe ga go ha he ja ka la le li lo ma me mi mo na ne no pa pe
    po ra re ri ro sa se si so ta te ti to va ve wa we xo zu ton ster mund lark plo gri snof quen
    dral
    """.split()  # noqa: SIM905
)


def noise(n: int, *, seed: int = 0) -> list[str]:
    """Return `n` strings that nobody means: slips on a keyboard, letters, invented words.

    >>> noise(2, seed=1) == noise(2, seed=1)
    True
    """
    rng = random.Random(seed)
    kinds = (_slip, _letters, _invented)
    return [kinds[i % len(kinds)](rng) for i in range(n)]


def pairs(n: int, *, seed: int = 0) -> list[str]:
    """Return `n` pairs of everyday words that do not belong together, such as *kitchen lease*.

    >>> len(pairs(3)), all(" " in pair for pair in pairs(3))
    (3, True)
    """
    rng = random.Random(seed)
    words = sorted({word for phrase in EVERYDAY for word in phrase.split() if len(word) >= _LEAST})
    return [f"{rng.choice(words)} {rng.choice(words)}" for _ in range(n)]


def unrelated_phrases(n_pairs: int, *, seed: int = 0) -> list[str]:
    """Return all phrases, as much noise as there are everyday ones, and pairs of words."""
    phrases = [phrase.strip() for phrase in (*EVERYDAY, *OTHER_LANGUAGES)]
    return [*phrases, *noise(len(EVERYDAY), seed=seed), *pairs(n_pairs, seed=seed)]


def _slip(rng: random.Random) -> str:
    row = rng.choice(_ROWS)
    first = rng.randrange(len(row) - 3)
    return row[first : first + rng.randint(4, 9)]


def _letters(rng: random.Random) -> str:
    words = range(rng.randint(1, 3))
    return " ".join(
        "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9))) for _ in words
    )


def _invented(rng: random.Random) -> str:
    words = range(rng.randint(1, 2))
    return " ".join("".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in words)
