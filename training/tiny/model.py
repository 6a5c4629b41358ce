"""A Llama-architecture model in plain PyTorch, named and laid out so that exporting is renaming."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn

LONGEST_WRITTEN_OUT = 256
Past = tuple[torch.Tensor, torch.Tensor]
Cache = list[Past | None]


@dataclass
class Config:
    """The shape of the model."""

    vocabulary: int = 1024
    dim: int = 192
    layers: int = 6
    heads: int = 6
    hidden: int = 512
    context: int = 512
    epsilon: float = 1e-5
    rope_base: float = 10000.0

    @property
    def head_dim(self) -> int:
        """The width of one head."""
        return self.dim // self.heads

    def as_dict(self) -> dict[str, int | float]:
        """What a checkpoint keeps."""
        return asdict(self)


@dataclass(frozen=True)
class Block:
    """A rectangle in a flat row of tokens: `rows` sequences of `width` tokens, which do not see each other.

    Where `prefix` names an earlier block, of one row, that one comes before each of the rows.
    """

    rows: int
    width: int
    prefix: int | None = None

    @property
    def size(self) -> int:
        """The number of tokens."""
        return self.rows * self.width


def positions_of(blocks: Sequence[Block]) -> torch.Tensor:
    """The position of each token of blocks in its sequence."""
    firsts = [0 if block.prefix is None else blocks[block.prefix].width for block in blocks]
    each = [torch.arange(f, f + block.width).repeat(block.rows) for f, block in zip(firsts, blocks, strict=True)]
    return torch.cat(each)


class RMSNorm(nn.Module):
    """Scales each vector to root mean square 1, then by a learned factor."""

    def __init__(self, dim: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.epsilon = epsilon

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, self.weight.shape, self.weight, self.epsilon)


def rope_tables(config: Config) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosine and sine for each position and each of the head's pairs."""
    frequencies = config.rope_base ** (-torch.arange(0, config.head_dim, 2) / config.head_dim)
    angles = torch.outer(torch.arange(config.context), frequencies)
    return angles.cos(), angles.sin()


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary positions as Hugging Face has them: component i turns together with i + half.

    The shape of `x` is tokens, anything, components.
    """
    first, second = x.chunk(2, -1)
    cos, sin = (table[:, None, None].to(x.dtype) for table in (cos, sin))
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Causal attention of rows that may have keys before them, all of which they see.

    Written out for short rows, where PyTorch's own is several times slower in bfloat16 on a CPU.
    """
    rows, heads, width, head_dim = q.shape
    length = k.shape[2]
    if width == length > LONGEST_WRITTEN_OUT:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    hidden = torch.full((width, length), -torch.inf, dtype=q.dtype).triu(1 + length - width)
    flat_q = q.reshape(rows * heads, width, head_dim)
    flat_k, flat_v = (x.reshape(rows * heads, length, head_dim) for x in (k, v))
    scores = torch.baddbmm(hidden, flat_q, flat_k.transpose(1, 2), alpha=head_dim**-0.5)
    return torch.bmm(scores.softmax(-1).to(v.dtype), flat_v).view(rows, heads, width, head_dim)


def behind(past: Past, k: torch.Tensor, v: torch.Tensor) -> Past:
    """Keys and values behind those that are past, which are of each row or of one for all."""
    rows = len(k)
    return torch.cat([past[0].expand(rows, -1, -1, -1), k], 2), torch.cat([past[1].expand(rows, -1, -1, -1), v], 2)


class Layer(nn.Module):
    """Attention and SwiGLU, each behind a norm and added to the stream.

    Queries, keys and values are one matrix, as are gate and up: fewer and larger products are faster.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads, self.head_dim = config.heads, config.head_dim
        self.attention_norm = RMSNorm(config.dim, config.epsilon)
        self.qkv = nn.Linear(config.dim, 3 * config.dim, bias=False)
        self.out = nn.Linear(config.dim, config.dim, bias=False)
        self.mlp_norm = RMSNorm(config.dim, config.epsilon)
        self.gate_up = nn.Linear(config.dim, 2 * config.hidden, bias=False)
        self.down = nn.Linear(config.hidden, config.dim, bias=False)

    def heads_of(
        self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, blocks: Sequence[Block]
    ) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
        """Queries, keys and values of each block, as rows, heads, positions, components."""
        qkv = self.qkv(self.attention_norm(x)).view(-1, 3, self.heads, self.head_dim)
        turned, plain = rotate(qkv[:, :2], cos, sin), qkv[:, 2]
        sizes = [block.size for block in blocks]
        parts = zip(blocks, turned.split(sizes), plain.split(sizes), strict=True)
        return [
            (
                *qk.view(block.rows, block.width, 2, self.heads, self.head_dim).permute(2, 0, 3, 1, 4),
                v.view(block.rows, block.width, self.heads, self.head_dim).transpose(1, 2),
            )
            for block, qk, v in parts
        ]

    def add_attention(self, x: torch.Tensor, mixed: Sequence[torch.Tensor]) -> torch.Tensor:
        """The stream with what attention gave for each block."""
        return x + self.out(torch.cat([part.transpose(1, 2).reshape(-1, x.shape[-1]) for part in mixed]))

    def attend(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, blocks: Sequence[Block]) -> torch.Tensor:
        """The stream after attention within blocks and to their prefixes."""
        parts = self.heads_of(x, cos, sin, blocks)
        mixed = []
        for block, (q, k, v) in zip(blocks, parts, strict=True):
            past = None if block.prefix is None else parts[block.prefix][1:]
            mixed.append(attention(q, *((k, v) if past is None else behind(past, k, v))))
        return self.add_attention(x, mixed)

    def attend_cached(
        self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, block: Block, past: Past | None
    ) -> tuple[torch.Tensor, Past]:
        """The stream after attention in one block, whose rows go on from the past, and what is past then."""
        q, k, v = self.heads_of(x, cos, sin, [block])[0]
        now = (k, v) if past is None else behind(past, k, v)
        return self.add_attention(x, [attention(q, *now)]), now

    def feed(self, x: torch.Tensor) -> torch.Tensor:
        """The stream after the feed-forward part, which looks at each place alone."""
        gate, up = self.gate_up(self.mlp_norm(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Tiny(nn.Module):
    """The model: embeddings, layers, a norm, and the embeddings again as output."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.dim)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.dim, config.epsilon)
        cos, sin = rope_tables(config)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self.initialise()

    def initialise(self) -> None:
        """Small normal weights; what is added to the stream smaller still, the more layers there are."""
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                is_added = name.endswith(("out.weight", "down.weight"))
                scale = (2 * self.config.layers) ** -0.5 if is_added else 1.0
                nn.init.normal_(weight, std=scale * 0.5 * self.config.dim**-0.5)

    def forward(self, tokens: torch.Tensor, blocks: Sequence[Block], places: torch.Tensor) -> torch.Tensor:
        """Logits at some places of a flat row of tokens, which is cut into blocks.

        All blocks go through each matrix together; only attention looks at them one by one. Only at the places
        are the last feed-forward part and the output computed: prompts need neither.
        """
        positions = positions_of(blocks)
        cos, sin = self.cos[positions], self.sin[positions]
        x = self.embedding(tokens)
        for layer in self.layers[:-1]:
            x = layer.feed(layer.attend(x, cos, sin, blocks))
        last = self.layers[-1]
        return self.output(last.feed(last.attend(x, cos, sin, blocks)[places]))

    def output(self, x: torch.Tensor) -> torch.Tensor:
        """Logits from the stream."""
        return F.linear(self.norm(x), self.embedding.weight)

    def logits(self, rows: torch.Tensor) -> torch.Tensor:
        """Logits at all places of rows."""
        flat = self(rows.flatten(), [Block(*rows.shape)], torch.arange(rows.numel()))
        return flat.view(*rows.shape, -1)

    def step(self, rows: torch.Tensor, cache: Cache) -> torch.Tensor:
        """Logits at the last place of rows that go on from the cache, which grows."""
        block = Block(*rows.shape)
        start = 0 if cache[0] is None else cache[0][0].shape[2]
        positions = start + positions_of([block])
        cos, sin = self.cos[positions], self.sin[positions]
        x = self.embedding(rows.flatten())
        for i, layer in enumerate(self.layers):
            x, cache[i] = layer.attend_cached(x, cos, sin, block, cache[i])
            x = layer.feed(x)
        return self.output(x.view(*rows.shape, -1)[:, -1])

    def empty_cache(self) -> Cache:
        """A cache to start from."""
        return [None] * self.config.layers


def load_model(checkpoint: str) -> Tiny:
    """The model of a checkpoint, ready to be asked."""
    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    model = Tiny(Config(**state["config"]))
    model.load_state_dict(state["model"])
    return model.eval()
