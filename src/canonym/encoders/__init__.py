"""Encoders turn names into vectors; each is a class with one method, `encode`.

It raises `InvalidInput` unless the names are a collection of strings. `make_encoder` makes an
encoder from a short description; `save_encoder` and `load_encoder` keep it in a folder. Other
packages add kinds through the entry-point group ``canonym.encoders``: the name of the entry point
is the kind, its value a class with ``encode``, ``save``, ``load`` and ``settings``.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from canonym.encoders.saved import ENCODER_MANIFEST, read_encoder_manifest, write_encoder_manifest
from canonym.errors import InvalidInput, Mismatch
from canonym.io import files
from canonym.regex import regex
from canonym.types import Encoder

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "ENCODERS",
    "SHIPPED",
    "EncoderOptions",
    "encoder_class",
    "encoder_kinds",
    "kind_of",
    "load_encoder",
    "make_encoder",
    "marked",
    "save_encoder",
]

ENCODERS: dict[str, str] = {
    "chargrams": "canonym.encoders.chargrams:CharGrams",
    "subword": "canonym.encoders.subword:Subword",
    "static": "canonym.encoders.static:StaticVectors",
    "transformer": "canonym.encoders.transformer:Transformer",
    "onnx": "canonym.encoders.onnx:OnnxTransformer",
    "residual": "canonym.encoders.residual:Residual",
    "universal": "canonym.encoders.universal:Universal",
}
"""Kinds of encoders in canonym, with the places of their classes."""

SHIPPED: tuple[str, ...] = ("default", "contextual", "multilingual")
"""Trained encoders that come with canonym, by name."""

HUB_NAME = regex(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
"""A name on the hub: ``owner/model``, or one word for a few early models."""

_GROUP = "canonym.encoders"
_OF_OPTIONS = frozenset(f"{ascii_lowercase}_")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "none": None}
_SWITCHES = ("lowercase", "word_boundaries", "normalise", "local_files_only")


class EncoderOptions(TypedDict, total=False):
    """Options of `make_encoder`; each kind of encoder takes those of its class."""

    n_min: int
    n_max: int
    word_boundaries: bool
    lowercase: bool
    max_words: int | None
    encoding_errors: str
    pooling: str
    max_length: int
    batch_size: int
    device: str
    dtype: str
    normalise: bool | None
    similarity: str
    sparse_weight: float | None
    local_files_only: bool
    trained: Mapping[str, Any] | None
    release: str


def encoder_kinds() -> list[str]:
    """Return every kind of encoder, those of other packages included, sorted."""
    return sorted({*ENCODERS, *(point.name for point in _entry_points())})


def _entry_points() -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points

    return entry_points(group=_GROUP)


def encoder_class(kind: str) -> Any:
    """Import and return the class of a kind of encoder."""
    if kind in ENCODERS:
        module, _, attribute = ENCODERS[kind].partition(":")
        return getattr(importlib.import_module(module), attribute)
    for point in _entry_points():
        if point.name != kind:
            continue
        try:
            return point.load()
        except (ImportError, AttributeError) as error:
            raise InvalidInput(
                f"the encoder {kind!r} of another package cannot be loaded ({error}); repair or "
                "uninstall that package"
            ) from error
    raise InvalidInput(
        f"there is no encoder of kind {kind!r}; there are {', '.join(encoder_kinds())}"
    )


def load_encoder(folder: str | Path) -> Encoder:
    """Open an encoder that `save_encoder`, or the encoder's own ``save``, wrote.

    Parameters
    ----------
    folder : str or Path
        The saved encoder.

    Raises
    ------
    ReadError
        If the folder is missing or damaged.
    Mismatch
        If it was written by a newer canonym, or its kind is not known here.
    """
    folder, kind = _saved(Path(folder))
    if kind not in ENCODERS and kind not in encoder_kinds():
        raise Mismatch(
            f"{folder} holds an encoder of kind {kind!r}, which is not known here "
            f"({', '.join(encoder_kinds())}); install the package that brings it, or upgrade "
            "canonym"
        )
    encoder: Encoder = encoder_class(kind).load(folder)
    return encoder


def _saved(folder: Path) -> tuple[Path, str]:
    """Return the folder of a saved encoder, once its manifests are read, and its kind."""
    folder = files.restored(folder)
    if (folder / files.MANIFEST).is_file():
        files.read_manifest(folder, kind="encoder", newest=1)
    return folder, read_encoder_manifest(folder)[0]


def save_encoder(encoder: Encoder, folder: str | Path, *, overwrite: bool = False) -> None:
    """Write an encoder as a folder that appears whole or not at all.

    Parameters
    ----------
    encoder : Encoder
        An instance of one of the kinds of `encoder_kinds`.
    folder : str or Path
        Its parent has to exist.
    overwrite : bool
        Whether an encoder that was saved there before is replaced.

    Raises
    ------
    InvalidInput
        If the folder cannot be written to, or the encoder's kind is not known.
    """
    kind = kind_of(encoder)
    with files.write_folder(folder, overwrite=overwrite) as partial:
        encoder.save(partial)  # type: ignore[attr-defined]
        if not (partial / ENCODER_MANIFEST).is_file():
            settings = encoder.settings  # type: ignore[attr-defined]
            write_encoder_manifest(partial, kind=kind, settings=settings)
        files.write_manifest(partial, kind="encoder", format_number=1, content={"encoder": kind})


def kind_of(encoder: Encoder) -> str:
    """Return the kind of an encoder; an error where no package has registered it."""
    place = f"{type(encoder).__module__}:{type(encoder).__qualname__}"
    for kind, known in ENCODERS.items():
        if known == place:
            return kind
    for point in _entry_points():
        if point.value == place:
            return point.name
    raise InvalidInput(
        f"{place} is no known encoder and could not be opened again; register it in the "
        f"entry-point group {_GROUP}"
    )


def make_encoder(spec: str | Path, **options: Unpack[EncoderOptions]) -> Encoder:
    """Make an encoder from a short description.

    ============================  =================================================================
    ``default``                   the subword encoder that comes with canonym
    ``contextual``                the small transformer that comes with canonym
    ``multilingual``              the subword encoder for other languages that comes with canonym
    ``universal``                 a sentence encoder of fifteen languages, from a package of its own
    ``chargrams``                 TF-IDF of character 1- and 2-grams, yet to be fitted
    ``chargrams:2-4``             the same with 2- to 4-grams
    ``a/folder``                  a saved encoder, or a Hugging Face, sentence-transformers or ONNX
                                  folder
    ``a/file.vec``                a word2vec or fastText file
    ``owner/model``               a model of the Hugging Face hub that is in the local cache
    ``hf:owner/model``            the same, downloaded if need be: the one form that goes online
    ``transformer:…`` ``onnx:…``  the folder or file named after the colon, read as that kind
    ``static:…`` ``subword:…`` ``residual:…``
    ``…,pooling=mean``            any of these with options: ``,pooling=max,similarity=euclidean``
    ``…,rarity=0.5``              a subword encoder that weighs words by their rarity
    ============================  =================================================================

    Parameters
    ----------
    spec : str or Path
        The description. A file or folder on disk goes before a name on the hub.
    **options
        Keyword arguments of the encoder's class (``pooling="mean"``). Of saved encoders
        transformers take any, in the place of their settings, and subword encoders a ``rarity``.

    Raises
    ------
    InvalidInput
        If the description fits nothing; the message lists the possible forms.
    MissingExtra
        If the encoder needs an optional dependency that is not installed.

    Examples
    --------
    >>> make_encoder("chargrams:1-3", lowercase=False)
    CharGrams(n_min=1, n_max=3, word_boundaries=False, lowercase=False)
    """
    text, settings = _split_options(str(spec), dict(options))
    kind, colon, rest = text.partition(":")
    if text in SHIPPED:
        return _open_shipped(text, settings)
    if kind == "chargrams" and not Path(text).exists():
        return _make_chargrams(rest if colon else None, settings)
    if text == "universal" and not Path(text).exists():
        return _make("universal", settings)
    if kind == "hf" and rest:
        return _make("transformer", settings | {"local_files_only": False}, rest)
    if colon and rest and (kind in ENCODERS or kind in encoder_kinds()):
        if kind == "static":
            return _read_static(rest, settings)
        if kind in {"transformer", "onnx"}:
            return _make(kind, settings, rest)
        return _open_saved(Path(rest), settings, kind=kind)
    path = files.restored(Path(text).expanduser())
    if text and path.is_dir():
        return _open_folder(path, settings)
    if path.is_file():
        return _read_static(path, settings)
    if isinstance(spec, str) and "/" in text and HUB_NAME.fullmatch(text):
        return _make("transformer", settings, text)
    raise InvalidInput(
        f"{text!r} is neither a file or folder here nor a kind of encoder; give 'default', "
        "'contextual', 'multilingual', 'universal', 'chargrams' or 'chargrams:1-3', a folder, a "
        "word-vector file, or 'hf:NAME' for a model of the Hugging Face hub"
    )


def path_of(spec: str) -> str:
    """Return a description of an encoder without its options."""
    return _split_options(spec, {})[0]


def _split_options(text: str, settings: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Cut ``,name=value`` off the end of a description, unless it is a file or folder."""
    while True:
        before, comma, option = text.rpartition(",")
        name, equals, value = option.partition("=")
        is_option = comma and equals and name and "=" not in value and _OF_OPTIONS.issuperset(name)
        if not is_option or Path(text).expanduser().exists():
            return text, settings
        settings.setdefault(name, _value(name, value))
        text = before


def _value(name: str, text: str) -> Any:
    """Read the value of an option: true, false, none, a number, or a word."""
    if name in _SWITCHES and text.lower() not in ("true", "false"):
        raise InvalidInput(f"{name}={text!r}: 'true' or 'false' is expected")
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def _open_shipped(name: str, options: dict[str, Any]) -> Encoder:
    folder = Path(__file__).parents[1] / "models" / name
    if not folder.is_dir():
        raise InvalidInput(
            f"this copy of canonym comes without the encoder {name!r}: there is no {folder}; "
            "install another version of canonym, or give another encoder"
        )
    if options and options.keys() != {"rarity"}:
        raise _fixed(folder, options)
    return marked(_open_saved(folder, options), name)


def marked(encoder: Encoder, name: str) -> Encoder:
    """Mark an encoder as one of `SHIPPED`; an index then records it by that name."""
    vars(encoder)["shipped"] = name
    return encoder


def _open_folder(folder: Path, options: dict[str, Any]) -> Encoder:
    if (folder / ENCODER_MANIFEST).is_file():
        return _open_saved(folder, options)
    has_onnx = (folder / "model.onnx").is_file() or (folder / "onnx" / "model.onnx").is_file()
    has_weights = any(folder.rglob("*.safetensors")) or any(folder.rglob("pytorch_model*.bin"))
    return _make("onnx" if has_onnx and not has_weights else "transformer", options, folder)


def _open_saved(folder: Path, options: dict[str, Any], *, kind: str | None = None) -> Encoder:
    if kind is not None:
        read_encoder_manifest(folder, kind=kind)
    if not options:
        return load_encoder(folder)
    folder, kind = _saved(folder)
    made = encoder_class(kind)
    if kind in {"transformer", "onnx"}:
        _check_options(made, kind, options, folder)
    elif kind != "subword" or options.keys() != {"rarity"}:
        raise _fixed(folder, options)
    encoder: Encoder = made.load(folder, **options)
    return encoder


def _fixed(folder: Path, options: dict[str, Any]) -> InvalidInput:
    return InvalidInput(
        f"{folder} is a saved encoder, which keeps its own settings; leave out "
        f"{', '.join(sorted(options))}"
    )


def _make_chargrams(span: str | None, options: dict[str, Any]) -> Encoder:
    if span is not None:
        shortest, _, longest = span.partition("-")
        if not (shortest.isdecimal() and longest.isdecimal()):
            raise InvalidInput(
                f"chargrams:{span}: the shortest and the longest n-gram are expected, as in "
                "'chargrams:1-3'"
            )
        options = options | {"n_min": int(shortest), "n_max": int(longest)}
    return _make("chargrams", options)


def _read_static(path: str | Path, options: dict[str, Any]) -> Encoder:
    if Path(path).is_dir():
        return _open_saved(Path(path), options, kind="static")
    return _make("static", options, path, make=encoder_class("static").read)


def _make(kind: str, options: dict[str, Any], *source: str | Path, make: Any = None) -> Encoder:
    make = make or encoder_class(kind)
    _check_options(make, kind, options, *source)
    encoder: Encoder = make(*source, **options)
    return encoder


def _check_options(make: Any, kind: str, options: dict[str, Any], *source: str | Path) -> None:
    try:
        inspect.signature(make).bind(*source, **options)
    except TypeError as error:
        raise InvalidInput(f"{kind}: {error}; see the options of that encoder") from error
