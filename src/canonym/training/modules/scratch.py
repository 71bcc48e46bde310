"""A small BERT of random weights, with a tokenizer trained on names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Annotated, Any

from canonym.encoders.hub import POOLINGS
from canonym.encoders.inputs import check_count, checked_names
from canonym.errors import InvalidInput, require
from canonym.io.encodings import without_surrogates
from canonym.training.keys import Count, Key
from canonym.training.modules.transformer import NameModule

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def train_tokenizer(names: Iterable[str], *, vocabulary: int = 8000, lowercase: bool = True) -> Any:
    """Train a WordPiece tokenizer on names."""
    transformers = require("transformers", "training an encoder", "torch")
    import tokenizers
    from tokenizers import models, normalizers, pre_tokenizers, processors, trainers

    check_count("vocabulary", vocabulary, least=16)
    texts = sorted({without_surrogates(name) for name in checked_names(names)})
    if not any(text.strip() for text in texts):
        raise InvalidInput("no names to train a tokenizer on; give those of the terminology")
    tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    letters = _letters(tokenizer.normalizer.normalize_str(text) for text in texts)
    # The trainer numbers letters in the order of a hash table, and breaks ties by these numbers. As
    # special tokens letters have fixed numbers; the final model does not treat them as special.
    first = [
        *SPECIAL,
        *(mark + letter for mark in ("", "##") for letter in letters[: vocabulary // 4]),
    ]
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary, special_tokens=first, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    fresh = tokenizers.Tokenizer(models.WordPiece(tokenizer.get_vocab(), unk_token="[UNK]"))
    fresh.normalizer, fresh.pre_tokenizer = tokenizer.normalizer, tokenizer.pre_tokenizer
    tokenizer = fresh
    tokenizer.add_special_tokens(list(SPECIAL))
    marks = [(mark, tokenizer.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=marks
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=512,
    )


def _letters(texts: Iterable[str]) -> list[str]:
    """Return every letter, the most frequent first."""
    counts = Counter(chain.from_iterable(texts))
    return sorted(
        (letter for letter in counts if not letter.isspace()),
        key=lambda letter: (-counts[letter], letter),
    )


def new_module(
    names: Iterable[str],
    *,
    width: Count = 256,
    layers: Count = 4,
    heads: Count = 4,
    vocabulary: Count = 8000,
    lowercase: bool = True,
    pooling: Annotated[str, Key(choices=("auto", *POOLINGS))] = "mean",
    max_length: Annotated[int, Key(least=3)] = 25,
    batch_size: int = 128,
    seed: int = 0,
) -> NameModule:
    """Make a BERT with random weights, and a tokenizer trained on `names`.

    Inner layers are four times as wide as `width`, a multiple of `heads`.

    Parameters
    ----------
    width : int
        With the encoder scratch: columns of a vector.
    layers : int
        With the encoder scratch: layers of the transformer.
    heads : int
        With the encoder scratch: attention heads of a layer.
    vocabulary : int
        With the encoder scratch: most tokens.
    pooling : str
        How the vectors of tokens become that of a name; auto is that of the folder of the model.
    max_length : int
        Most tokens of a name.
    """
    torch = require("torch", "training an encoder", "torch")
    transformers = require("transformers", "training an encoder", "torch")
    for what, value in (("width", width), ("layers", layers), ("heads", heads)):
        check_count(what, value)
    if width % heads:
        raise InvalidInput(f"width={width} is no multiple of heads={heads}; choose one")
    check_count("max_length", max_length, least=3)
    tokenizer = train_tokenizer(names, vocabulary=vocabulary, lowercase=lowercase)
    longest = max(64, int(max_length))
    tokenizer.model_max_length = longest
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=longest,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = transformers.BertModel(config)
    return NameModule(
        network, tokenizer, pooling=pooling, max_length=max_length, batch_size=batch_size
    )
