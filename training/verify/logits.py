"""Logits of a GGUF file by an independent road, to hold the TypeScript runner against.

The forward pass is written from the GGUF file alone: weights dequantised to float32, rotary positions in
GGUF's interleaved order. It shares no code with the trainer. Where the folder for transformers is there, that
road is taken too, from its own, unquantised weights.

    python logits.py model.gguf --tokens tokens.json --out logits.json       writes what TypeScript should give
    python logits.py model.gguf --compare typescript.jsonl                   exit code 1 above --tolerance

`tokens.json` is a list of lists of token ids. A line of what is compared is `{"tokens": [...], "logits": [[…]]}`
with the logits at each position. Differences are relative to the range (max − min) of the logits of the line.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import gguf
import torch
import torch.nn.functional as F


class GgufModel:
    """A Llama of a GGUF file, computed as plainly as possible."""

    def __init__(self, path: Path) -> None:
        reader = gguf.GGUFReader(path)
        self.fields = reader.fields
        self.weights = {
            tensor.name: torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type).copy()).float()
            for tensor in reader.tensors
        }
        self.heads = int(self.field("attention.head_count"))
        self.kv_heads = int(self.field("attention.head_count_kv"))
        self.epsilon = float(self.field("attention.layer_norm_rms_epsilon"))
        self.base = float(self.field("rope.freq_base"))

    def field(self, key: str) -> int | float:
        """One number of the architecture."""
        return self.fields[f"llama.{key}"].contents()

    def norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        """RMSNorm by a named weight."""
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * self.weights[f"{name}.weight"]

    def rotated(self, x: torch.Tensor) -> torch.Tensor:
        """Rotary positions on heads × positions × components: components 2i and 2i + 1 turn as one complex number."""
        width, dim = x.shape[1:]
        frequencies = self.base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
        angles = torch.outer(torch.arange(width, dtype=torch.float64), frequencies)
        turns = torch.polar(torch.ones_like(angles), angles).to(torch.complex64)
        pairs = torch.view_as_complex(x.reshape(*x.shape[:2], dim // 2, 2).contiguous())
        return torch.view_as_real(pairs * turns).flatten(-2)

    def attention(self, x: torch.Tensor, block: str) -> torch.Tensor:
        """What the attention of a layer adds."""

        def heads_of(name: str, count: int) -> torch.Tensor:
            return F.linear(x, self.weights[f"{block}.{name}.weight"]).view(len(x), count, -1).transpose(0, 1)

        q = self.rotated(heads_of("attn_q", self.heads))
        k = self.rotated(heads_of("attn_k", self.kv_heads)).repeat_interleave(self.heads // self.kv_heads, 0)
        v = heads_of("attn_v", self.kv_heads).repeat_interleave(self.heads // self.kv_heads, 0)
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        later = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(later, -torch.inf).softmax(-1) @ v
        return F.linear(mixed.transpose(0, 1).flatten(1), self.weights[f"{block}.attn_output.weight"])

    def feed_forward(self, x: torch.Tensor, block: str) -> torch.Tensor:
        """What the feed-forward part of a layer adds."""
        gate = F.linear(x, self.weights[f"{block}.ffn_gate.weight"])
        up = F.linear(x, self.weights[f"{block}.ffn_up.weight"])
        return F.linear(gate / (1 + torch.exp(-gate)) * up, self.weights[f"{block}.ffn_down.weight"])

    @torch.no_grad()
    def logits(self, tokens: Sequence[int]) -> torch.Tensor:
        """Logits at each position of a sequence."""
        x = self.weights["token_embd.weight"][list(tokens)]
        for i in range(int(self.field("block_count"))):
            block = f"blk.{i}"
            x = x + self.attention(self.norm(x, f"{block}.attn_norm"), block)
            x = x + self.feed_forward(self.norm(x, f"{block}.ffn_norm"), block)
        output = self.weights.get("output.weight", self.weights["token_embd.weight"])
        return F.linear(self.norm(x, "output_norm"), output)


def difference(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """The largest difference, relative to the range of the first."""
    if ours.shape != theirs.shape:
        raise ValueError(f"Expected logits of the shape {tuple(ours.shape)}, got {tuple(theirs.shape)}.")
    return float((ours - theirs).abs().max() / (ours.max() - ours.min()))


def compare(model: GgufModel, path: Path, tolerance: float) -> bool:
    """Prints the largest difference to the lines of a file; gives whether it is small enough."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if not lines:
        raise ValueError(f"Expected lines to compare in {path}.")
    differences = [difference(model.logits(line["tokens"]), torch.tensor(line["logits"])) for line in lines]
    worst = max(differences)
    positions = sum(len(line["tokens"]) for line in lines)
    print(f"{len(lines)} sequences, {positions} positions: largest difference {worst:.2e} of the range")
    return worst <= tolerance


def write(model: GgufModel, sequences: Sequence[Sequence[int]], out: Path) -> None:
    """Writes the logits of sequences as JSON lines, in the form that `--compare` reads."""
    with out.open("w", encoding="utf-8") as file:
        for tokens in sequences:
            file.write(json.dumps({"tokens": list(tokens), "logits": model.logits(tokens).tolist()}) + "\n")


@torch.no_grad()
def compare_transformers(model: GgufModel, folder: Path, sequences: Sequence[Sequence[int]]) -> None:
    """Prints how far transformers is, with the unquantised weights: a bound on what quantising costs."""
    from transformers import AutoModelForCausalLM

    llama = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    differences = [difference(model.logits(t), llama(torch.tensor([t])).logits[0]) for t in sequences]
    print(f"transformers, unquantised: largest difference {max(differences):.2e} of the range")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("--tokens", type=Path, help="a JSON list of lists of token ids")
    parser.add_argument("--out", type=Path, help="where their logits are written")
    parser.add_argument("--compare", type=Path, help="logits of the TypeScript runner, as JSON lines")
    parser.add_argument("--transformers", type=Path, help="the folder for transformers")
    parser.add_argument("--tolerance", type=float, default=1e-3)
    options = parser.parse_args()
    model = GgufModel(options.gguf)
    if options.tokens is not None:
        sequences = json.loads(options.tokens.read_text())
        if options.out is not None:
            write(model, sequences, options.out)
        if options.transformers is not None:
            compare_transformers(model, options.transformers, sequences)
    if options.compare is not None and not compare(model, options.compare, options.tolerance):
        sys.exit(1)


if __name__ == "__main__":
    main()
