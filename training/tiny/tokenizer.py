"""The vocabulary: trains it, and encodes and decodes with it as llama.cpp does.

llama.cpp calls this kind of vocabulary `llama` (SentencePiece with byte fallback): the text is cut into
characters, then the neighbours whose union is the piece with the best score are joined, again and again.
With score = −rank of the merge that is byte-pair encoding.

A merge may cross spaces and line ends, because the instructions in the corpus are constant paragraphs that
should cost few tokens. Digits join with each other up to two, and with the space before them, and with
nothing else: the numbers that matter are one token each.

    python tokenizer.py --corpus build/corpus/train.jsonl --out build
"""

import argparse
import heapq
import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from chat import CHAT_TEMPLATE, SPECIAL_TOKENS, UNK

SPACE = "▁"
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
FIRST_BYTE = len(SPECIAL_TOKENS)
CHARACTERS = [SPACE if c == " " else c for c in map(chr, range(32, 127))] + ["\n"]
FIRST_CHARACTER = FIRST_BYTE + len(BYTES)
FIRST_MERGE = FIRST_CHARACTER + len(CHARACTERS)


@dataclass
class Vocabulary:
    """Pieces in the order of their ids: special tokens, bytes, characters, merges from first to last."""

    pieces: list[str]

    def __post_init__(self) -> None:
        self.ids = {piece: i for i, piece in enumerate(self.pieces)}

    def score(self, token: int) -> float:
        """What decides the order of merges: minus the rank; characters come after every merge."""
        if token < FIRST_CHARACTER:
            return 0.0
        merges = len(self.pieces) - FIRST_MERGE
        rank = token - FIRST_MERGE if token >= FIRST_MERGE else merges + token - FIRST_CHARACTER
        return -float(rank)

    def mergeable(self, piece: str) -> int | None:
        """The id of a piece that can come out of a merge, or nothing."""
        token = self.ids.get(piece)
        return token if token is not None and token >= FIRST_MERGE else None

    def encode(self, text: str) -> list[int]:
        """llama.cpp's algorithm, plainly: the reference for the two faster encoders."""
        symbols = list(text.replace(" ", SPACE))
        following = [*range(1, len(symbols)), -1]
        preceding = list(range(-1, len(symbols) - 1))
        queue: list[tuple[float, int, int, str]] = []

        def offer(left: int, right: int) -> None:
            if left < 0 or right < 0:
                return
            token = self.mergeable(symbols[left] + symbols[right])
            if token is not None:
                heapq.heappush(queue, (-self.score(token), left, right, symbols[left] + symbols[right]))

        for left in range(len(symbols) - 1):
            offer(left, left + 1)
        while queue:
            _, left, right, union = heapq.heappop(queue)
            if not symbols[left] or not symbols[right] or symbols[left] + symbols[right] != union:
                continue
            symbols[left], symbols[right] = union, ""
            following[left] = following[right]
            if following[left] >= 0:
                preceding[following[left]] = left
            offer(preceding[left], left)
            offer(left, following[left])
        return [token for symbol in symbols if symbol for token in self.tokens_of(symbol)]

    def tokens_of(self, symbol: str) -> list[int]:
        """The piece's id, or the ids of its UTF-8 bytes where it is not in the vocabulary."""
        token = self.ids.get(symbol)
        return [token] if token is not None else [FIRST_BYTE + byte for byte in symbol.encode()]

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of tokens; special tokens have none."""
        return b"".join(map(self.bytes_of, tokens)).decode(errors="replace")

    def bytes_of(self, token: int) -> bytes:
        """What one token adds to the text."""
        if token < FIRST_BYTE:
            return b""
        if token < FIRST_CHARACTER:
            return bytes([token - FIRST_BYTE])
        return self.pieces[token].replace(SPACE, " ").encode()

    def merges(self) -> list[tuple[str, str]]:
        """Every pair of pieces whose union is a piece, best first.

        A BPE file names pairs where llama.cpp looks at the union alone, so all pairs have to be named.
        """
        return [
            (piece[:cut], piece[cut:])
            for piece in self.pieces[FIRST_MERGE:]
            for cut in range(1, len(piece))
            if self.is_part(piece[:cut]) and self.is_part(piece[cut:])
        ]

    def is_part(self, piece: str) -> bool:
        """Whether a piece can take part in a merge."""
        return self.ids.get(piece, 0) >= FIRST_CHARACTER


class CachedEncoder:
    """The same tokens as `Vocabulary.encode`, fast enough for a corpus.

    Two neighbouring characters that stand together in no piece are a certain border; the stretches between
    borders are few and come again and again, so each is encoded once.
    """

    def __init__(self, vocabulary: Vocabulary, capacity: int = 400_000) -> None:
        self.backend = hugging_face_backend(vocabulary)
        pairs = {pair for piece in vocabulary.pieces[FIRST_MERGE:] for pair in itertools.pairwise(piece)}
        self.joined = {(a.replace(SPACE, " "), b.replace(SPACE, " ")) for a, b in pairs}
        self.capacity = capacity
        self.cache: dict[str, list[int]] = {}

    def __call__(self, text: str) -> list[int]:
        return [token for stretch in self.stretches(text) for token in self.encode_stretch(stretch)]

    def stretches(self, text: str) -> Iterator[str]:
        """The text, cut at the certain borders."""
        start = 0
        for i, pair in enumerate(itertools.pairwise(text), start=1):
            if pair not in self.joined:
                yield text[start:i]
                start = i
        if start < len(text):
            yield text[start:]

    def encode_stretch(self, stretch: str) -> list[int]:
        """Tokens of one stretch, from the cache where it has them."""
        tokens = self.cache.get(stretch)
        if tokens is None:
            tokens = self.backend.encode(stretch, add_special_tokens=False).ids
            if len(self.cache) < self.capacity:
                self.cache[stretch] = tokens
        return tokens


def hugging_face_backend(vocabulary: Vocabulary) -> Tokenizer:
    """The vocabulary as a `tokenizers` object: BPE with byte fallback, spaces written as ▁."""
    ids = vocabulary.ids
    model = models.BPE(ids, vocabulary.merges(), unk_token=SPECIAL_TOKENS[UNK], byte_fallback=True, fuse_unk=True)
    backend = Tokenizer(model)
    backend.normalizer = normalizers.Replace(" ", SPACE)
    backend.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()])
    backend.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in SPECIAL_TOKENS])
    return backend


def hugging_face_tokenizer(vocabulary: Vocabulary, context: int) -> PreTrainedTokenizerFast:
    """The tokenizer that `AutoTokenizer` loads, with the chat template inside."""
    unk, bos, eos, *roles = SPECIAL_TOKENS
    return PreTrainedTokenizerFast(
        tokenizer_object=hugging_face_backend(vocabulary),
        unk_token=unk,
        bos_token=bos,
        eos_token=eos,
        pad_token=eos,
        additional_special_tokens=roles,
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        model_max_length=context,
    )


def sample_texts(corpus: Path, lines: int) -> Counter[str]:
    """The message contents of the first lines (the corpus is shuffled), each with its count."""
    counts: Counter[str] = Counter()
    with corpus.open(encoding="utf-8") as file:
        for line in itertools.islice(file, lines):
            counts.update(message["content"] for message in json.loads(line)["messages"])
    return counts


def train_merges(texts: Counter[str], size: int) -> tuple[list[str], Tokenizer]:
    """The pieces that come out of merges, in their order, and the trainer's own encoder."""
    backend = Tokenizer(models.BPE())
    backend.normalizer = normalizers.Replace(" ", SPACE)
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"▁?\d{1,2}"), behavior="isolated")
    trainer = trainers.BpeTrainer(
        vocab_size=size - FIRST_CHARACTER,
        min_frequency=10,
        initial_alphabet=CHARACTERS,
        limit_alphabet=len(CHARACTERS),
        show_progress=False,
    )
    backend.train_from_iterator((text for text, count in sorted(texts.items()) for _ in range(count)), trainer)
    merges = json.loads(backend.to_str())["model"]["merges"]
    return list(dict.fromkeys("".join(pair) for pair in merges)), backend


def build_vocabulary(merged: Sequence[str]) -> Vocabulary:
    """Special tokens, bytes and characters in front of the merged pieces."""
    return Vocabulary([*SPECIAL_TOKENS, *BYTES, *CHARACTERS, *merged])


def load_vocabulary(path: Path) -> Vocabulary:
    """Reads what `main` wrote."""
    return Vocabulary(json.loads(path.read_text(encoding="utf-8"))["pieces"])


def corrupted(text: str, rng: random.Random) -> str:
    """The text with a few characters changed, so that the check also meets what training never saw."""
    characters = list(text)
    strange = [*CHARACTERS, "é", "→", "  ", "\t", "🙂"]
    for _ in range(rng.randint(1, 6)):
        characters.insert(rng.randrange(len(characters) + 1), rng.choice(strange))
    return "".join(characters).replace(SPACE, " ")


def check_encoders(vocabulary: Vocabulary, trained: Tokenizer, texts: Sequence[str]) -> int:
    """Raises where an encoder differs from the plain one or a text does not come back.

    Gives the number of texts that the trainer's own encoder cuts otherwise (it knows one pair for each piece).
    """
    backend, cached = hugging_face_backend(vocabulary), CachedEncoder(vocabulary)
    others = 0
    for text in texts:
        plain = vocabulary.encode(text)
        if backend.encode(text, add_special_tokens=False).ids != plain or cached(text) != plain:
            raise ValueError(f"The encoders differ on {text!r}.")
        if vocabulary.decode(plain) != text or backend.decode(plain, skip_special_tokens=False) != text:
            raise ValueError(f"Encoding and decoding changes {text!r}.")
        known = re.sub(r"[^\n -~]", "", text)
        others += trained.encode(known).tokens != [vocabulary.pieces[t] for t in vocabulary.encode(known)]
    return others


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--lines", type=int, default=150_000)
    parser.add_argument("--check", type=int, default=3000)
    options = parser.parse_args()

    texts = sample_texts(options.corpus, options.lines)
    merged, trained = train_merges(texts, options.size)
    vocabulary = build_vocabulary(merged)
    if len(vocabulary.pieces) != options.size:
        raise ValueError(f"Expected enough text for {options.size} pieces, got {len(vocabulary.pieces)}.")
    rng = random.Random(1)
    some = rng.sample(sorted(texts), min(options.check, len(texts)))
    others = check_encoders(vocabulary, trained, some + [corrupted(text, rng) for text in some])
    options.out.mkdir(parents=True, exist_ok=True)
    written = json.dumps({"pieces": vocabulary.pieces}, ensure_ascii=False, indent=0)
    (options.out / "vocabulary.json").write_text(written, encoding="utf-8")
    characters = sum(len(text) for text in some)
    tokens = sum(len(vocabulary.encode(text)) for text in some)
    print(f"{len(vocabulary.pieces)} pieces, {characters / tokens:.1f} characters a token in different texts")
    print(f"{2 * len(some)} texts: three encoders agree; the trainer's own differs on {others}")


if __name__ == "__main__":
    main()
