"""A small model and a tokenizer, made on the spot: nothing is looked for on the Hub."""

import random
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    LlamaForSequenceClassification,
    LlamaForTokenClassification,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

END = "<|im_end|>"
BEGIN = "<|begin|>"
SPECIAL = [BEGIN, "<|pad|>", "<|im_start|>", END, "<|unknown|>"]

#: How texts are cut before they become tokens. The two differ in what they do with line breaks.
CUTS = {
    "qwen": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
}


def templates() -> dict[str, str]:
    """Chat templates of Qwen's kind that say what the model writes: ours, and those that this TRL ships, if any."""
    shipped = resources.files("trl") / "chat_templates"
    names = {"qwen2.5": "qwen2_5_training.jinja", "qwen3 instruct": "qwen3_instruct_2507_training.jinja"}
    files = {"ours": Path(__file__).parent / "qwen_style.jinja"}
    files |= {name: file for name, own in names.items() if (file := shipped / own).is_file()}
    return {name: file.read_text(encoding="utf-8") for name, file in files.items()}


def tokenizer_of(texts: Iterable[str], cut: str = "qwen") -> PreTrainedTokenizerFast:
    """Byte pairs learnt from the texts themselves, with the chat template of Qwen2.5 as TRL ships it for training."""
    raw = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(CUTS[cut]), behavior="isolated")
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1500,
        special_tokens=[AddedToken(token, special=True, normalized=False) for token in SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(texts, trainer)
    # As with Llama, each text begins with a token of its own.
    raw.post_processor = processors.TemplateProcessing(single=f"{BEGIN} $A", special_tokens=[(BEGIN, 0)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        bos_token=BEGIN,
        eos_token=END,
        pad_token="<|pad|>",
        # As with Llama: what is no token has an id all the same, which must not become that of the end.
        unk_token="<|unknown|>",
        clean_up_tokenization_spaces=False,
    )
    known = templates()
    tokenizer.chat_template = known.get("qwen2.5", known["ours"])
    return tokenizer


def model_of(tokenizer: PreTrainedTokenizerFast, kind: str = "causal") -> PreTrainedModel:
    """Two layers of 32 numbers each: enough to take a step, and to have a loss."""
    torch.manual_seed(random.Random(kind).randrange(2**31))
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    if kind == "causal":
        model = LlamaForCausalLM(config)
        # As with Qwen: more than one token ends an answer.
        model.generation_config.eos_token_id = [tokenizer.eos_token_id, tokenizer.pad_token_id]
        return model
    if kind == "reward":
        config.num_labels = 1
        return LlamaForSequenceClassification(config)
    config.num_labels = 2
    return LlamaForTokenClassification(config)
