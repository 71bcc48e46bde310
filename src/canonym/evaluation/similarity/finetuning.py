"""Relation classification with an encoder that is trained along."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from canonym.encoders.devices import pool
from canonym.errors import InvalidInput, require
from canonym.evaluation.similarity.relations import Classifier, Fit
from canonym.types import Relation

__all__ = ["finetuned"]


def finetuned(
    make_encoder: Callable[[], Any],
    names: Mapping[str, str],
    *,
    epochs: int = 50,
    batch_size: int = 96,
    learning_rate: float = 2e-5,
    warm_up: float = 0.1,
) -> Fit:
    """Classify by a softmax over an encoder, both trained on the triplets.

    Parameters
    ----------
    make_encoder : callable
        Makes a fresh `canonym.encoders.transformer.Transformer`; called once per training.
    names : mapping of str to str
        The name to encode of every concept.
    epochs, batch_size : int
        Of the training.
    learning_rate : float
        Peak of the learning rate of AdamW, without weight decay.
    warm_up : float
        Share of the steps in which the rate rises from 0, before it falls to 0, both linearly.

    Returns
    -------
    Fit
        For `canonym.evaluation.similarity.relations.evaluate_relations`.

    Raises
    ------
    MissingExtra
        If torch is not installed (extra ``torch``).
    InvalidInput
        When it is used: if a concept has no name.

    Notes
    -----
    ``ŷ = softmax(W [e_h, e_t] + b)`` with ``e`` the pooled, not normalised output of the encoder.
    The released code of CODER passes no attention mask; here padding never counts.

    References
    ----------
    Yuan et al. (2020), CODER, section 4.6 and appendix A.4.
    """
    torch = require("torch", "fine-tuning an encoder", "torch")

    def texts(triplets: Sequence[Relation]) -> list[str]:
        """Names of all heads, then of all tails."""
        ids = [triplet.head for triplet in triplets] + [triplet.tail for triplet in triplets]
        unnamed = next((id_ for id_ in ids if id_ not in names), None)
        if unnamed is not None:
            raise InvalidInput(f"the concept {unnamed!r} has no name; give one for every concept")
        return [names[id_] for id_ in ids]

    def fit(train: Sequence[Relation], rng: np.random.Generator) -> Classifier:
        encoder = make_encoder()
        relations = sorted({triplet.relation for triplet in train})
        place = {name: i for i, name in enumerate(relations)}
        targets = torch.tensor([place[triplet.relation] for triplet in train])
        texts(train)  # every name is there before the first step is taken
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**31)))
            layer = torch.nn.Linear(2 * encoder.n_columns, len(relations)).to(encoder.device)
            _train(encoder, layer, train, targets, texts, rng)

        def classify(triplets: Sequence[Relation]) -> list[str]:
            said: list[str] = []
            with torch.inference_mode():
                for start in range(0, len(triplets), batch_size):
                    logits = _logits(encoder, layer, texts(triplets[start : start + batch_size]))
                    said += [relations[i] for i in logits.argmax(dim=1).tolist()]
            return said

        return classify

    def _train(
        encoder: Any, layer: Any, train: Sequence[Relation], targets: Any, texts: Any, rng: Any
    ) -> None:
        model = encoder.model.float().train()
        parameters = [*model.parameters(), *layer.parameters()]
        optimiser = torch.optim.AdamW(parameters, lr=learning_rate, weight_decay=0.0)
        n_steps = epochs * -(-len(train) // batch_size)
        rising = max(round(warm_up * n_steps), 1)
        rate = torch.optim.lr_scheduler.LambdaLR(
            optimiser,
            lambda step: min((step + 1) / rising, (n_steps - step) / max(n_steps - rising, 1)),
        )
        for _ in range(epochs):
            order = rng.permutation(len(train))
            for start in range(0, len(order), batch_size):
                rows = order[start : start + batch_size]
                logits = _logits(encoder, layer, texts([train[row] for row in rows]))
                loss = torch.nn.functional.cross_entropy(logits, targets[rows].to(logits.device))
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                rate.step()
        model.eval()

    return fit


def _logits(encoder: Any, layer: Any, texts: list[str]) -> Any:
    """Score every relation for pairs of names, all first ones before all second ones."""
    if encoder.lowercase:
        texts = [text.lower() for text in texts]
    batch = encoder.tokenizer(
        texts, padding=True, truncation=True, max_length=encoder.max_length, return_tensors="pt"
    ).to(encoder.device)
    hidden = encoder.model(**batch).last_hidden_state
    vectors = pool(hidden, batch["attention_mask"], encoder.pooling)
    half = len(texts) // 2
    return layer(vectors.reshape(2, half, -1).transpose(0, 1).reshape(half, -1))
