"""A saved linker, opened: what is in its folder, and what it is."""

from __future__ import annotations

import hashlib
import json
import shutil
import weakref
from pathlib import Path
from typing import Any, Self

from canonym.errors import Mismatch
from canonym.io.files import MANIFEST, file_digest, read_manifest, write_folder
from canonym.linking.build import FORMAT
from canonym.linking.confidence import CONFIDENCE, Confidence
from canonym.linking.homonyms import Contexts
from canonym.linking.lookup import Lookup
from canonym.linking.overlay import OVERLAY, OverlayContent, check_overlay
from canonym.linking.reranker import RERANKER, Reranker
from canonym.mentions.prepare import Preparation
from canonym.mentions.spelling import Speller
from canonym.terminology import Terminology

__all__ = ["Opened"]


class Opened:
    """The part of `canonym.Linker` that opens, describes and saves.

    Parameters
    ----------
    folder : Path
        A saved linker.
    terminology : Terminology, optional
        Use this one instead of the copy in the folder.
    """

    def __init__(self, folder: Path, *, terminology: Terminology | None = None) -> None:
        self.folder = folder
        self.manifest = read_manifest(folder, kind="linker", newest=FORMAT)
        self.terminology = terminology or Terminology(folder / "terminology.db")
        digest = self.manifest["terminology"]["digest"]
        if self.terminology.digest != digest:
            raise Mismatch(
                f"the index {folder} was built for the terminology {digest[:12]}…, but "
                f"{self.terminology.path} is {self.terminology.digest[:12]}…; build the index again"
            )
        self.confidence = Confidence.load(folder / CONFIDENCE)
        self.reranker = Reranker.load(folder / RERANKER, encoders=self.encoder_names)
        self.lookup = Lookup(folder, self.manifest, self.terminology)
        self.contexts = Contexts(self.terminology)
        self.settings = settings = self.manifest["settings"]
        speller = Speller.load(folder / "speller") if settings["spelling"] else None
        self.preparation = Preparation(speller, settings["composites"], settings["trials"])
        self._finalizer: weakref.finalize[Any, Any] | None = None

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the linker to a folder that `load` opens; it appears whole or not at all."""
        if overwrite:
            check_overlay(folder, self.folder)
        with write_folder(folder, overwrite=overwrite) as partial:
            # SQLite files that may be written to meanwhile are copied by SQLite.
            left = shutil.ignore_patterns(f"{OVERLAY}*")
            shutil.copytree(self.folder, partial, dirs_exist_ok=True, ignore=left)
            self.lookup.live.overlay.copy(partial / OVERLAY)

    @classmethod
    def load(cls, folder: str | Path, *, terminology: Terminology | None = None) -> Self:
        """Open a saved linker, memory-mapped.

        Parameters
        ----------
        folder : str or Path
            Made by `save`, by ``build(folder=…)`` or by ``canonym index``.
        terminology : Terminology, optional
            Use this one instead of the copy in the folder; it must have the same content.

        Raises
        ------
        ReadError
            If the folder is missing or damaged.
        Mismatch
            If it was made by a newer version, or for another terminology.
        """
        return cls(Path(folder), terminology=terminology)

    def info(self) -> dict[str, Any]:
        """Describe the linker: its terminology, encoders and settings."""
        content = self.lookup.live.overlay.read()
        added = {"synonyms": len(content.synonyms), "forbidden pairs": len(content.forbidden)}
        sources = [" ".join(filter(None, pair)) for pair in self.terminology.sources()]
        return {
            "folder": str(self.folder),
            "fingerprint": self.fingerprint,
            **{key: self.manifest[key] for key in ("format", "encoders", "settings")},
            **({"added": added} if any(added.values()) else {}),
            **({"re-ranker": self.reranker.facts()} if self.reranker else {}),
            **({"confidence": self._sureness()} if self.confidence else {}),
            "terminology": {
                **self.manifest["terminology"],
                "sources": [source for source in sources if source],
            },
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the manifest and of what was added: changes with all that links depend on."""
        digest = file_digest(self.folder / MANIFEST)
        content = self.lookup.live.overlay.read()
        if content == OverlayContent() and self.confidence is None and self.reranker is None:
            return digest
        names = [[name.text, name.concept_id, name.language] for name in content.synonyms]
        sure = self.confidence and self.confidence.to_dict()
        order = [file_digest(self.folder / RERANKER)] if self.reranker else []
        whole = json.dumps([digest, names, content.forbidden, sure, *order])
        return hashlib.sha256(whole.encode("ascii")).hexdigest()

    @property
    def encoder_names(self) -> tuple[str, ...]:
        """What the encoders are called, among the parts of a candidate's score."""
        return tuple(one["name"] for one in self.manifest["encoders"])

    def _sureness(self) -> dict[str, Any]:
        found = self.confidence
        return {} if found is None else {"method": found.method, "fitted to": f"{found.n:,} links"}
