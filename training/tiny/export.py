"""Writes the model for others: GGUF files (f16 and q8_0) for llama.cpp and the TypeScript runner, and a folder
for Hugging Face transformers. Checks that transformers gives the same logits and the same tokens.

    python export.py --checkpoint build/checkpoint.pt --vocabulary build/vocabulary.json --out build
"""

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, LlamaConfig, LlamaForCausalLM

from chat import BOS, CHAT_TEMPLATE, EOS, SPECIAL_TOKENS, UNK, Message, encode_prompt
from model import Config, Tiny, load_model
from tokenizer import BYTES, Vocabulary, hugging_face_tokenizer, load_vocabulary

NAME = "espalier-tiny"
FILE_TYPES = {
    "f16": (gguf.GGMLQuantizationType.F16, gguf.LlamaFileType.MOSTLY_F16),
    "q8_0": (gguf.GGMLQuantizationType.Q8_0, gguf.LlamaFileType.MOSTLY_Q8_0),
}
Weights = dict[str, torch.Tensor]


def interleave(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Query or key rows from Hugging Face's order (halves turn together) to GGUF's (neighbours do)."""
    rows, columns = weight.shape
    return weight.view(heads, 2, rows // heads // 2, columns).transpose(1, 2).reshape(rows, columns)


def deinterleave(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """The way back."""
    rows, columns = weight.shape
    return weight.view(heads, rows // heads // 2, 2, columns).transpose(1, 2).reshape(rows, columns)


def gguf_weights(model: Tiny) -> Weights:
    """The weights under GGUF's names; the output is the embedding, so it is not written."""
    heads = model.config.heads
    weights = {"token_embd.weight": model.embedding.weight, "output_norm.weight": model.norm.weight}
    for i, layer in enumerate(model.layers):
        q, k, v = layer.qkv.weight.chunk(3)
        gate, up = layer.gate_up.weight.chunk(2)
        own = {
            "attn_norm": layer.attention_norm.weight,
            "attn_q": interleave(q, heads),
            "attn_k": interleave(k, heads),
            "attn_v": v,
            "attn_output": layer.out.weight,
            "ffn_norm": layer.mlp_norm.weight,
            "ffn_gate": gate,
            "ffn_up": up,
            "ffn_down": layer.down.weight,
        }
        weights |= {f"blk.{i}.{name}.weight": weight for name, weight in own.items()}
    return {name: weight.detach() for name, weight in weights.items()}


def hugging_face_weights(model: Tiny) -> Weights:
    """The weights under Hugging Face's names."""
    weights = {"model.embed_tokens.weight": model.embedding.weight, "model.norm.weight": model.norm.weight}
    for i, layer in enumerate(model.layers):
        q, k, v = layer.qkv.weight.chunk(3)
        gate, up = layer.gate_up.weight.chunk(2)
        own = {
            "input_layernorm": layer.attention_norm.weight,
            "self_attn.q_proj": q,
            "self_attn.k_proj": k,
            "self_attn.v_proj": v,
            "self_attn.o_proj": layer.out.weight,
            "post_attention_layernorm": layer.mlp_norm.weight,
            "mlp.gate_proj": gate,
            "mlp.up_proj": up,
            "mlp.down_proj": layer.down.weight,
        }
        weights |= {f"model.layers.{i}.{name}.weight": weight for name, weight in own.items()}
    return {name: weight.detach().clone() for name, weight in weights.items()}


def token_type(token: int) -> gguf.TokenType:
    """What kind of token an id is."""
    if token == UNK:
        return gguf.TokenType.UNKNOWN
    if token < len(SPECIAL_TOKENS):
        return gguf.TokenType.CONTROL
    return gguf.TokenType.BYTE if token < len(SPECIAL_TOKENS) + len(BYTES) else gguf.TokenType.NORMAL


def write_gguf(path: Path, model: Tiny, vocabulary: Vocabulary, kind: str) -> None:
    """One GGUF file: matrices in the wanted type, norms in f32."""
    quantization, file_type = FILE_TYPES[kind]
    writer = gguf.GGUFWriter(path, "llama")
    add_description(writer, model.config, file_type)
    add_vocabulary(writer, vocabulary)
    for name, weight in gguf_weights(model).items():
        numbers = weight.float().numpy()
        if numbers.ndim == 1:
            writer.add_tensor(name, numbers)
        else:
            writer.add_tensor(name, gguf.quantize(numbers, quantization), raw_dtype=quantization)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_description(writer: gguf.GGUFWriter, config: Config, file_type: gguf.LlamaFileType) -> None:
    """What the model is and its shape."""
    writer.add_name(NAME)
    writer.add_license("MIT")
    writer.add_description("A toy for trying and testing tree search; not for work.")
    writer.add_file_type(file_type)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_context_length(config.context)
    writer.add_embedding_length(config.dim)
    writer.add_block_count(config.layers)
    writer.add_feed_forward_length(config.hidden)
    writer.add_head_count(config.heads)
    writer.add_head_count_kv(config.heads)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_base)
    writer.add_layer_norm_rms_eps(config.epsilon)
    writer.add_vocab_size(config.vocabulary)


def add_vocabulary(writer: gguf.GGUFWriter, vocabulary: Vocabulary) -> None:
    """The tokenizer and the chat template."""
    tokens = range(len(vocabulary.pieces))
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([piece.encode() for piece in vocabulary.pieces])
    writer.add_token_scores([vocabulary.score(token) for token in tokens])
    writer.add_token_types([token_type(token) for token in tokens])
    writer.add_bos_token_id(BOS)
    writer.add_eos_token_id(EOS)
    writer.add_unk_token_id(UNK)
    writer.add_pad_token_id(EOS)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def read_gguf(path: Path) -> tuple[Tiny, Vocabulary]:
    """A model as its GGUF file has it, quantised weights and all."""
    reader = gguf.GGUFReader(path)
    weights = {
        tensor.name: torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type).copy())
        for tensor in reader.tensors
    }
    model = Tiny(config_of(reader))
    model.load_state_dict(own_weights(weights, model.config))
    return model.eval(), Vocabulary(reader.fields["tokenizer.ggml.tokens"].contents())


def config_of(reader: gguf.GGUFReader) -> Config:
    """The shape that a GGUF file declares."""

    def value(key: str) -> int | float:
        return reader.fields[f"llama.{key}"].contents()

    return Config(
        vocabulary=value("vocab_size"),
        dim=value("embedding_length"),
        layers=value("block_count"),
        heads=value("attention.head_count"),
        hidden=value("feed_forward_length"),
        context=value("context_length"),
        epsilon=value("attention.layer_norm_rms_epsilon"),
        rope_base=value("rope.freq_base"),
    )


def own_weights(weights: Weights, config: Config) -> Weights:
    """Weights from GGUF's names and order to ours."""
    own = {"embedding.weight": weights["token_embd.weight"], "norm.weight": weights["output_norm.weight"]}
    for i in range(config.layers):

        def of(name: str, block: int = i) -> torch.Tensor:
            return weights[f"blk.{block}.{name}.weight"]

        q, k = (deinterleave(of(name), config.heads) for name in ("attn_q", "attn_k"))
        layer = {
            "attention_norm": of("attn_norm"),
            "qkv": torch.cat([q, k, of("attn_v")]),
            "out": of("attn_output"),
            "mlp_norm": of("ffn_norm"),
            "gate_up": torch.cat([of("ffn_gate"), of("ffn_up")]),
            "down": of("ffn_down"),
        }
        own |= {f"layers.{i}.{name}.weight": weight for name, weight in layer.items()}
    return own


def write_hugging_face(folder: Path, model: Tiny, vocabulary: Vocabulary) -> None:
    """The folder that `AutoModelForCausalLM` and `AutoTokenizer` load."""
    config = model.config
    llama = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=config.vocabulary,
            hidden_size=config.dim,
            intermediate_size=config.hidden,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            num_key_value_heads=config.heads,
            max_position_embeddings=config.context,
            rms_norm_eps=config.epsilon,
            rope_parameters={"rope_type": "default", "rope_theta": config.rope_base},
            tie_word_embeddings=True,
            bos_token_id=BOS,
            eos_token_id=EOS,
            pad_token_id=EOS,
        )
    )
    unexpected = llama.load_state_dict(hugging_face_weights(model), strict=False).unexpected_keys
    if unexpected:
        raise ValueError(f"Expected transformers to know all weights, got {unexpected}.")
    llama.generation_config = GenerationConfig(bos_token_id=BOS, eos_token_id=EOS, pad_token_id=EOS)
    llama.save_pretrained(folder)
    tokenizer = hugging_face_tokenizer(vocabulary, config.context)
    tokenizer.save_pretrained(folder)
    # transformers writes the template into a file of its own and no map; older readers look for these.
    settings_path = folder / "tokenizer_config.json"
    settings = json.loads(settings_path.read_text()) | {"chat_template": CHAT_TEMPLATE}
    settings_path.write_text(json.dumps(settings, indent=2, ensure_ascii=False))
    (folder / "special_tokens_map.json").write_text(json.dumps(tokenizer.special_tokens_map, indent=2))


@torch.no_grad()
def check(folder: Path, quantised: Path, model: Tiny, vocabulary: Vocabulary) -> None:
    """Raises where transformers or the GGUF file read back do not give what the model gives."""
    messages: list[Message] = [
        {"role": "system", "content": "Be exact."},
        {"role": "user", "content": "Numbers: 4 9 10 13\nÜber 1/3?"},
    ]
    prompt = encode_prompt(vocabulary.encode, messages)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    theirs = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=True)["input_ids"]
    if theirs != prompt:
        raise ValueError(f"Expected the tokens {prompt} from transformers, got {theirs}.")
    generator = torch.Generator().manual_seed(1)
    rows = torch.randint(len(SPECIAL_TOKENS), model.config.vocabulary, (2, 100), generator=generator)
    own = model.logits(rows)
    llama = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    difference = float((llama(rows).logits - own).abs().max())
    span = float(own.max() - own.min())
    loss = float((read_gguf(quantised)[0].logits(rows) - own).abs().max())
    print(f"transformers differs by {difference:.1e}, q8_0 by {loss:.1e}; logits span {span:.1f}")
    if difference > 1e-3 or loss > 0.1 * span:
        raise ValueError("Expected the same logits from what was written.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    model, vocabulary = load_model(str(options.checkpoint)), load_vocabulary(options.vocabulary)
    for kind in FILE_TYPES:
        path = options.out / f"tiny-{kind}.gguf"
        write_gguf(path, model, vocabulary, kind)
        size = np.round(path.stat().st_size / 1e6, 2)
        print(f"{path}: {size} MB")
    write_hugging_face(options.out / "hf", model, vocabulary)
    check(options.out / "hf", options.out / "tiny-q8_0.gguf", model, vocabulary)


if __name__ == "__main__":
    main()
