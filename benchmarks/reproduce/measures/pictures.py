"""Pictures of neighbourhoods: names in the plane, coloured by concept or by type.

A picture shows whether an encoder puts the names of a concept together and keeps concepts of
different types apart. It is an illustration: distances between far clusters mean nothing.
`reproduce.measures.mcsm` and accuracies measure the same.

References
----------
Yuan et al. (2020), CODER, section 5.2, figures 2 (names, coloured by concept) and 3 (concepts,
coloured by semantic type). van der Maaten and Hinton (2008), Visualizing data using t-SNE. McInnes,
Healy and Melville (2018), UMAP.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.encoders import load_encoder
from canonym.errors import InvalidInput
from canonym.io.files import write_file
from canonym.linker import Linker
from canonym.linking.build import encoder_steps
from canonym.terminology import Terminology
from canonym.text import normalise_all
from canonym.types import Encoder, Float32Array, SparseVectors
from reproduce.packages import load

METHODS: tuple[str, ...] = ("tsne", "umap")
"""Layouts: t-SNE as in CODER, and UMAP."""

_FEWEST = 4
_RICH = 5
_MOST_TYPES = 6


@dataclass(frozen=True, slots=True)
class Shown:
    """A name of a picture, the id of its concept, and the group that gives its colour."""

    name: str
    concept: str
    group: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Names and their places `(n, 2)` in the plane."""

    shown: tuple[Shown, ...]
    points: npt.NDArray[np.float64]
    by: str
    method: str
    seed: int

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups in the order of their first names."""
        return tuple(dict.fromkeys(one.group for one in self.shown))


def choose_names(
    terminology: Terminology,
    *,
    by: str = "concept",
    types: Collection[str] = (),
    ids: Collection[str] = (),
    concepts: int | None = None,
    names: int = 12,
    seed: int = 0,
) -> tuple[Shown, ...]:
    """Draw names for a picture at random, group after group.

    `by` ``"concept"`` shows several names of each concept, as in CODER's figure 2; ``"type"`` the
    label of each concept, as in its figure 3. With `types` there are only concepts of these, a
    concept of several types in the first; by type the six most frequent ones by default. With `ids`
    there are only these concepts. At most so many `concepts` are drawn, 20 by default, by type 150
    of each, and at most so many `names` of a concept. By concept only those with five or more are
    drawn, or with two or more if these are too few. `seed` is of the draws. Raises `InvalidInput`
    if a type or an id does not occur, or an option is invalid.
    """
    if by not in {"concept", "type"}:
        raise InvalidInput(f"by is {by!r}; 'concept' or 'type' is expected")
    if names < 2 or (concepts is not None and concepts < 1):
        raise InvalidInput(
            f"{concepts} concepts of {names} names are asked for; at least 1 and 2 are expected"
        )
    known = terminology.types()
    if by == "type" and not known:
        raise InvalidInput("the terminology has no types to colour by; colour by concept")
    frequent = sorted(known, key=lambda name: (-known[name], name))[:_MOST_TYPES]
    wanted = list(types) or (frequent if by == "type" else [])
    rng = np.random.default_rng(seed)
    shown: list[Shown] = []
    drawn: set[int] = set()
    for group in wanted if by == "type" else [None]:
        of = [group] if group is not None else wanted
        rows = terminology.rows_where(types=of, ids=list(ids))
        owners = terminology.concept_of_row()[rows]
        found, counts = np.unique(owners, return_counts=True)
        n = concepts or (20 if group is None else 150)
        if group is None:
            rich = found[counts >= _RICH]
            found = rich if len(rich) >= n else found[counts > 1]
        found = found[[one not in drawn for one in found.tolist()]] if drawn else found
        chosen = np.sort(rng.permutation(found)[:n])
        drawn.update(chosen.tolist())
        for concept in terminology.concepts_at(chosen):
            label = concept.label or concept.id
            if group is not None:
                shown.append(Shown(label, concept.id, group))
                continue
            its = list(dict.fromkeys(name.text for name in terminology.names(concept.id)))
            picked = [its[i] for i in np.sort(rng.permutation(len(its))[:names])]
            shown += [Shown(name, concept.id, label) for name in picked]
    return tuple(shown)


def encode_names(
    linker: Linker, names: Sequence[str], *, encoder: int = 0
) -> Float32Array | SparseVectors:
    """Encode names with an encoder of an index, in the way of the index: one vector per name.

    `encoder` is the number of the encoder, from 0. Raises `InvalidInput` if there is none.
    """
    described = linker.manifest["encoders"]
    if not 0 <= encoder < len(described):
        raise InvalidInput(f"the index has {len(described)} encoders; there is no number {encoder}")
    loaded: Encoder = load_encoder(linker.folder / f"encoder-{encoder}")
    steps = tuple(described[encoder].get("steps", encoder_steps(loaded)))
    return loaded.encode(list(normalise_all(names, steps)))


def make_picture(
    shown: Sequence[Shown],
    vectors: Float32Array | SparseVectors,
    *,
    by: str = "concept",
    method: str = "tsne",
    seed: int = 0,
    perplexity: float | None = None,
) -> Picture:
    """Lay the names of a picture out.

    `vectors` ``(n, d)`` are those of the names that `choose_names` gave, `by` is what groups them,
    and `method` one of `METHODS`. The same `seed` gives the same places, bit by bit on one machine:
    one thread is used. `perplexity` is about how many neighbours count; 30 by default, fewer for
    fewer than 91 names. Raises `InvalidInput` if there are fewer than four names or other than one
    vector each, a vector is not finite, an option is invalid, or scikit-learn, or for UMAP
    umap-learn, is not installed.

    Vectors are scaled to length one, so that Euclidean neighbours are those by cosine. A zero
    vector stays.
    """
    points = lay_out(vectors, method=method, seed=seed, perplexity=perplexity)
    if len(points) != len(shown):
        raise InvalidInput(f"{len(shown)} names have {len(points)} vectors; one each is expected")
    return Picture(tuple(shown), points, by, method, seed)


def lay_out(
    vectors: Float32Array | SparseVectors,
    *,
    method: str = "tsne",
    seed: int = 0,
    perplexity: float | None = None,
) -> npt.NDArray[np.float64]:
    """Place vectors in the plane so that near ones stay near, by cosine."""
    if method not in METHODS:
        raise InvalidInput(f"there is no method {method!r}; there are {', '.join(METHODS)}")
    table = _dense(vectors)
    n = len(table)
    if n < _FEWEST:
        raise InvalidInput(f"{n} names make no picture; at least {_FEWEST} are expected")
    if not np.isfinite(table).all():
        raise InvalidInput("a vector is not finite; leave out names without a vector")
    near = min(30.0, (n - 1) / 3) if perplexity is None else perplexity
    if not 1 <= near < n:
        raise InvalidInput(f"the perplexity is {near:g}; expected at least 1 and less than {n}")
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    table = np.divide(table, lengths, out=np.zeros_like(table), where=lengths > 0)
    if method == "umap":
        umap = load("umap", "UMAP", "umap-learn")
        reducer = umap.UMAP(
            n_neighbors=max(int(near), 2), metric="euclidean", random_state=seed, n_jobs=1
        )
    else:
        manifold = load("sklearn.manifold", "t-SNE", "scikit-learn")
        reducer = manifold.TSNE(perplexity=near, init="pca", random_state=seed, n_jobs=1)
    threads = load("threadpoolctl", "a picture", "scikit-learn")
    with threads.threadpool_limits(limits=1):
        return np.asarray(reducer.fit_transform(table), dtype=np.float64)


def _dense(vectors: Float32Array | SparseVectors) -> npt.NDArray[np.float32]:
    if not isinstance(vectors, SparseVectors):
        return np.asarray(vectors, dtype=np.float32)
    from scipy.sparse import csr_matrix

    shape = (len(vectors.indptr) - 1, vectors.n_columns)
    sparse = csr_matrix((vectors.data, vectors.indices, vectors.indptr), shape=shape)
    # Columns without an entry have no part in any distance.
    used = np.unique(vectors.indices)
    return np.asarray(sparse[:, used].toarray(), dtype=np.float32)


# --- files ----------------------------------------------------------------------------------------

FORMATS: tuple[str, ...] = ("svg", "png")
"""Formats of files, by suffix."""

# Ten colours that stay apart for most eyes, and markers for the groups beyond them.
_COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a6a00"),
    *("#56b4e9", "#8b4513", "#5e3c99", "#666666", "#e69f00"),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_LISTED = 24
_WIDTH = 34


def write_picture(
    picture: Picture, path: str | Path, *, title: str = "", overwrite: bool = True
) -> None:
    """Draw a picture into a file; the same picture gives the same bytes.

    The file, ``*.svg`` or ``*.png``, is written whole or not at all. In an SVG every point has a
    title with its name, which browsers show. `title` stands above the picture. `overwrite` tells
    whether an existing file is replaced. Raises `InvalidInput` if the suffix is no format, or
    matplotlib is not installed.
    """
    format = Path(path).suffix.lower().lstrip(".")
    if format not in FORMATS:
        raise InvalidInput(f"{path}: the name of the file has to end in .{' or .'.join(FORMATS)}")
    matplotlib = load("matplotlib", "drawing a picture", "matplotlib")
    # Text stays text; ids inside the SVG come from its content and not from chance.
    settings = {"svg.fonttype": "none", "svg.hashsalt": "canonym", "font.family": "sans-serif"}
    metadata = {"Date": None, "Creator": None} if format == "svg" else {"Software": None}
    with matplotlib.rc_context(settings):
        figure = _drawn(picture, title)
        with write_file(path, overwrite=overwrite) as partial:
            figure.savefig(partial, format=format, dpi=150, metadata=metadata)
            if format == "svg":
                _add_names(partial, picture)


def _drawn(picture: Picture, title: str) -> Any:
    figures = load("matplotlib.figure", "drawing a picture", "matplotlib")
    figure = figures.Figure(figsize=(9.6, 6.4), layout="constrained")
    axes = figure.add_subplot()
    groups = picture.groups
    handles = []
    for number, group in enumerate(groups):
        rows = [i for i, one in enumerate(picture.shown) if one.group == group]
        marker = _MARKERS[number // len(_COLOURS) % len(_MARKERS)]
        points = axes.scatter(
            picture.points[rows, 0],
            picture.points[rows, 1],
            s=26 if len(picture.shown) < 400 else 12,
            c=_COLOURS[number % len(_COLOURS)],
            marker=marker,
            linewidths=0.3,
            edgecolors="white",
            label=textwrap.shorten(group, _WIDTH, placeholder="…"),
            gid=f"group-{number}",
        )
        handles.append(points)
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_color("#bbbbbb")
    if title:
        axes.set_title(title, loc="left", fontsize=11)
    kind = {"concept": "Names by concept", "type": "Concepts by type"}[picture.by]
    more = len(groups) - _LISTED
    if more > 0:
        kind += f", {_LISTED} of {len(groups)}"
    figure.legend(
        handles=handles[:_LISTED],
        loc="outside right upper",
        title=kind,
        fontsize=8,
        title_fontsize=8,
        alignment="left",
        frameon=False,
        handletextpad=0.2,
    )
    return figure


def _add_names(path: Path, picture: Picture) -> None:
    """Give every point of an SVG its name as a title."""
    import xml.etree.ElementTree as ET

    svg = "http://www.w3.org/2000/svg"
    ET.register_namespace("", svg)
    ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    tree = ET.parse(path)
    for number, group in enumerate(picture.groups):
        shown = [one for one in picture.shown if one.group == group]
        place = tree.find(f".//{{{svg}}}g[@id='group-{number}']")
        points = [] if place is None else place.findall(f".//{{{svg}}}use")
        for point, one in zip(points, shown, strict=True):
            ET.SubElement(point, f"{{{svg}}}title").text = f"{one.name} ({one.concept})"
    tree.write(path, encoding="utf-8", xml_declaration=True)
