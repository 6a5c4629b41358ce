"""The corpus as numbers: tokenised once, then read as memory-mapped arrays.

    python data.py --corpus build/corpus/train.jsonl --vocabulary build/vocabulary.json --out build/tokens
"""

import argparse
import itertools
import json
import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from chat import EOS, encode_chat
from model import Block
from tokenizer import CachedEncoder, load_vocabulary

LINES_A_JOB = 20_000
LONGEST_PREFIX = 96
LEAST_GAIN = 8
LEAST_SHARE = 0.02
Encoded = tuple[np.ndarray, list[int], list[int], list[str]]


@dataclass
class Corpus:
    """Tokenised documents: `tokens[starts[i]:starts[i + 1]]`, of which the first `prompts[i]` are prompt.

    Document i begins with `prefixes[groups[i]]`, which many others begin with too.
    """

    tokens: np.ndarray
    starts: np.ndarray
    prompts: np.ndarray
    tasks: np.ndarray
    names: list[str]
    prefixes: list[np.ndarray]
    groups: np.ndarray

    def __len__(self) -> int:
        return len(self.prompts)

    def lengths(self, documents: np.ndarray) -> np.ndarray:
        """How many tokens documents have."""
        return self.starts[documents + 1] - self.starts[documents]

    def document(self, index: int) -> np.ndarray:
        """The tokens of one document."""
        return self.tokens[self.starts[index] : self.starts[index + 1]]


@dataclass
class Batch:
    """A flat row of tokens, cut into blocks, and the places whose next token is to be predicted.

    `targets` are the tokens that follow at the places, `weights` how much each counts, and `documents` whose
    they are.
    """

    tokens: torch.Tensor
    blocks: list[Block]
    places: torch.Tensor
    targets: torch.Tensor
    weights: torch.Tensor
    documents: np.ndarray


def worker_start(vocabulary: Path) -> None:
    """Gives each process its own encoder, whose cache lives on from job to job."""
    global encoder
    encoder = CachedEncoder(load_vocabulary(vocabulary))


def encode_lines(lines: list[str]) -> Encoded:
    """One job of a worker: tokens in one row, lengths, prompt lengths and tasks."""
    tokens: list[int] = []
    lengths, prompts, tasks = [], [], []
    for line in lines:
        example = json.loads(line)
        document, prompt = encode_chat(encoder, example["messages"])
        tokens += document
        lengths.append(len(document))
        prompts.append(prompt)
        tasks.append(example["task"])
    return np.array(tokens, np.uint16), lengths, prompts, tasks


def jobs(path: Path) -> Iterator[list[str]]:
    """The lines of a file in portions."""
    with path.open(encoding="utf-8") as file:
        while lines := list(itertools.islice(file, LINES_A_JOB)):
            yield lines


def tokenise(corpus: Path, vocabulary: Path, out: Path, processes: int) -> None:
    """Writes the corpus as arrays."""
    out.mkdir(parents=True, exist_ok=True)
    lengths, prompts, tasks = [], [], []
    names: dict[str, int] = {}
    with (
        multiprocessing.get_context("spawn").Pool(processes, worker_start, (vocabulary,)) as pool,
        (out / "tokens.bin").open("wb") as file,
    ):
        for tokens, *rest in pool.imap(encode_lines, jobs(corpus)):
            tokens.tofile(file)
            lengths += rest[0]
            prompts += rest[1]
            tasks += [names.setdefault(task, len(names)) for task in rest[2]]
    np.save(out / "starts.npy", np.concatenate([[0], np.cumsum(lengths)]))
    np.save(out / "prompts.npy", np.array(prompts, np.uint16))
    np.save(out / "tasks.npy", np.array(tasks, np.uint8))
    (out / "tasks.json").write_text(json.dumps(list(names)))
    print(f"{len(lengths)} documents, {sum(lengths)} tokens, {sum(lengths) / len(lengths):.1f} on average")


def load_corpus(folder: Path) -> Corpus:
    """Opens what `tokenise` wrote; the tokens stay on disk."""
    tokens, starts = np.memmap(folder / "tokens.bin", np.uint16, "r"), np.load(folder / "starts.npy")
    prompts = np.load(folder / "prompts.npy")
    prefixes, groups = find_prefixes(tokens, starts, prompts)
    return Corpus(
        tokens=tokens,
        starts=starts,
        prompts=prompts,
        tasks=np.load(folder / "tasks.npy"),
        names=json.loads((folder / "tasks.json").read_text()),
        prefixes=prefixes,
        groups=groups,
    )


def find_prefixes(tokens: np.ndarray, starts: np.ndarray, prompts: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """The beginnings that many documents share, and which one each document has: none for the first group.

    The instructions of a task are such a beginning. It is computed once for a batch, not once for a document.
    """
    # 0, which no text has, where a prompt ends: at least its last token stays in the rows.
    heads = np.zeros((len(prompts), LONGEST_PREFIX), np.uint16)
    for place in range(LONGEST_PREFIX):
        inside = prompts > place + 1
        heads[inside, place] = tokens[starts[:-1][inside] + place]
    prefixes: list[np.ndarray] = [np.empty(0, np.int64)]
    groups = np.zeros(len(prompts), np.uint8)
    open_groups = [(np.arange(len(prompts)), 0)]
    while open_groups:
        members, known = open_groups.pop()
        depth = shared_length(heads[members], known)
        if depth - known >= LEAST_GAIN:
            groups[members] = len(prefixes)
            prefixes.append(heads[members[0], :depth].astype(np.int64))
        if depth < LONGEST_PREFIX:
            values, counts = np.unique(heads[members, depth], return_counts=True)
            for value in values[(counts >= LEAST_SHARE * len(prompts)) & (values > 0)]:
                child = members[heads[members, depth] == value]
                if shared_length(heads[child], depth) - depth >= LEAST_GAIN:
                    open_groups.append((child, depth))
    return prefixes, groups


def shared_length(heads: np.ndarray, known: int) -> int:
    """How many tokens all rows begin with, if that many are known to be shared."""
    same = (heads == heads[0]).all(0) & (heads[0] > 0)
    return known + int(np.argmin(np.append(same[known:], False)))


def weight_of(answer: int, balance: float) -> float:
    """How much a token counts in an answer of so many tokens.

    With balance 0 every token counts alike, with 1 every document: a one-word judgement as much as a long step.
    """
    return float(answer**-balance)


def places_of(prompt: int, length: int) -> np.ndarray:
    """The places in a document whose next token is an answer's."""
    return np.arange(prompt - 1, length - 1)


def packed_batch(corpus: Corpus, documents: np.ndarray, width: int, count: int, balance: float) -> Batch:
    """Documents behind one another in rows of `width`, so that all positions are trained.

    Documents that do not fit into `count` rows are left out.
    """
    rows = np.full((count, width), EOS, np.int64)
    taken, firsts = [], []
    row, column = 0, 0
    for document in documents:
        tokens = corpus.document(document)
        if column + len(tokens) > width:
            row, column = row + 1, 0
        if row == count:
            break
        rows[row, column : column + len(tokens)] = tokens
        taken.append(document)
        firsts.append(row * width + column)
        column += len(tokens)
    return batch_of(corpus, rows.reshape(-1), [Block(count, width)], np.array(taken), np.array(firsts), balance)


def padded_batch(corpus: Corpus, documents: np.ndarray, rows: int, balance: float) -> Batch:
    """One document a row, in blocks of the same prefix and of similar length.

    Rows are filled up at their end, where causal attention never looks. A prefix is a block of its own, which
    comes first, and is not in the rows.
    """
    flat: list[np.ndarray] = []
    blocks: list[Block] = []
    ordered, firsts = [], []
    start = 0
    for group in np.unique(corpus.groups[documents]):
        prefix = corpus.prefixes[group]
        cut = len(prefix)
        name = len(blocks) if cut > 0 else None
        if cut > 0:
            flat.append(prefix)
            blocks.append(Block(1, cut))
            start += cut
        for members in portions(corpus, documents[corpus.groups[documents] == group], rows):
            block = filled_rows(corpus, members, cut)
            flat.append(block.reshape(-1))
            blocks.append(Block(*block.shape, prefix=name))
            ordered.append(members)
            firsts.append(start + np.arange(len(members)) * block.shape[1] - cut)
            start += block.size
    return batch_of(corpus, np.concatenate(flat), blocks, np.concatenate(ordered), np.concatenate(firsts), balance)


def portions(corpus: Corpus, documents: np.ndarray, rows: int) -> Iterator[np.ndarray]:
    """Documents in portions of similar length: a new one where it has grown by a third, and after that many rows."""
    cuts = len(corpus.prefixes[corpus.groups[documents[0]]])
    lengths = corpus.lengths(documents) - cuts
    order = np.argsort(lengths, kind="stable")
    documents, lengths = documents[order], lengths[order]
    start = 0
    for end in range(1, len(lengths) + 1):
        if end == len(lengths) or end - start == rows or 3 * lengths[end] > 4 * (lengths[start] + 2):
            yield documents[start:end]
            start = end


def filled_rows(corpus: Corpus, documents: np.ndarray, cut: int) -> np.ndarray:
    """One document a row, without its first tokens, filled up to the longest and to a multiple of 4."""
    width = -(-(int(corpus.lengths(documents).max()) - cut) // 4) * 4
    rows = np.full((len(documents), width), EOS, np.int64)
    for row, document in zip(rows, documents, strict=True):
        tokens = corpus.document(document)[cut:]
        row[: len(tokens)] = tokens
    return rows


def batch_of(
    corpus: Corpus,
    tokens: np.ndarray,
    blocks: list[Block],
    documents: np.ndarray,
    firsts: np.ndarray,
    balance: float,
) -> Batch:
    """A flat row with the places of the answers, for documents whose first token is, or would be, at `firsts`."""
    prompts, lengths = corpus.prompts[documents].astype(np.int64), corpus.lengths(documents)
    each = [first + places_of(p, n) for first, p, n in zip(firsts, prompts, lengths, strict=True)]
    places, answers = np.concatenate(each), lengths - prompts
    weights = np.repeat([weight_of(answer, balance) for answer in answers], answers)
    return Batch(
        tokens=torch.from_numpy(tokens),
        blocks=blocks,
        places=torch.from_numpy(places),
        targets=torch.from_numpy(tokens[places + 1]),
        weights=torch.from_numpy(weights).float(),
        documents=np.repeat(documents, answers),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    tokenise(options.corpus, options.vocabulary, options.out, options.processes)


if __name__ == "__main__":
    main()
