"""Trains the model for a given time.

The schedule is bound to the clock, so that it ends well whatever the machine: a warm-up, a constant learning
rate, then a linear way down to zero. Interrupted, the same command goes on from the last checkpoint.

    python train.py --tokens build/tokens --out build --minutes 45
"""

import argparse
import itertools
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

# Threads that wait actively are ten times slower where anything else runs on the same cores. It has to be set
# before PyTorch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import torch
import torch.nn.functional as F

from data import Batch, Corpus, load_corpus, packed_batch, padded_batch
from model import Config, Tiny

HELD_OUT = 3000


@dataclass
class Settings:
    """What a training run is made of."""

    tokens: Path
    out: Path
    minutes: float
    threads: int
    seed: int
    lr: float
    windows: int
    rows: int
    documents: int
    long_share: float
    balance: float
    warm_up: float
    decay: float
    weight_decay: float
    log_minutes: float
    save_minutes: float


def learning_rate(progress: float, settings: Settings) -> float:
    """The rate at a share of the time: up, constant, down to zero."""
    up = progress / settings.warm_up if settings.warm_up > 0 else 1.0
    down = (1 - progress) / settings.decay if settings.decay > 0 else 1.0
    return settings.lr * max(0.0, min(1.0, up, down))


class Documents:
    """The documents to learn from, in an order that depends on the seed alone, for ever."""

    def __init__(self, count: int, seed: int, taken: int = 0) -> None:
        self.count, self.seed, self.taken = count, seed, taken
        self.epoch, self.order = -1, np.empty(0, np.int64)

    def take(self, wanted: int) -> np.ndarray:
        """The next documents."""
        epoch, position = divmod(self.taken, self.count)
        if epoch != self.epoch:
            self.epoch, self.order = epoch, np.random.default_rng([self.seed, epoch]).permutation(self.count)
        portion = self.order[position : position + wanted]
        self.taken += len(portion)
        return portion


def batches(corpus: Corpus, documents: Documents, settings: Settings, first: int, context: int) -> Iterator[Batch]:
    """What each step learns from: mostly single documents, now and then long rows of many.

    Which steps are long depends on their number, so that a resumed run goes on in the same way.
    """
    for number in itertools.count(first):
        portion = documents.take(settings.documents)
        is_long = np.random.default_rng([settings.seed, 1, number]).random() < settings.long_share
        if is_long:
            yield packed_batch(corpus, portion, context, settings.windows, settings.balance)
        else:
            yield padded_batch(corpus, portion, settings.rows, settings.balance)


def losses_of(model: Tiny, batch: Batch) -> torch.Tensor:
    """The cross-entropy at each place of a batch."""
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(batch.tokens, batch.blocks, batch.places)
    return F.cross_entropy(logits.float(), batch.targets, reduction="none")


def learn(model: Tiny, optimizers: Sequence[torch.optim.Optimizer], batch: Batch) -> float:
    """One step; gives the mean loss of a token."""
    losses = losses_of(model, batch)
    ((losses * batch.weights).sum() / batch.weights.sum()).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return losses.detach().mean().item()


@torch.no_grad()
def losses_by_task(model: Tiny, corpus: Corpus, documents: np.ndarray) -> dict[str, float]:
    """The mean loss of a token on documents that are not learned from, for each task."""
    sums, counts = np.zeros(len(corpus.names)), np.zeros(len(corpus.names))
    for portion in np.array_split(documents, -(-len(documents) // 300)):
        batch = padded_batch(corpus, portion, len(portion), 0.0)
        tasks = corpus.tasks[batch.documents]
        np.add.at(sums, tasks, losses_of(model, batch).double().numpy())
        np.add.at(counts, tasks, 1)
    return {name: round(float(sums[i] / counts[i]), 4) for i, name in enumerate(corpus.names) if counts[i]}


def optimizers_of(model: Tiny, settings: Settings) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for embeddings and norms.

    Muon's steps are scaled to the size of AdamW's, so one learning rate serves both. For the same documents it
    got much further here than AdamW alone.
    """
    matrices = [weight for name, weight in model.named_parameters() if is_matrix(name, weight)]
    others = [weight for name, weight in model.named_parameters() if not is_matrix(name, weight)]
    muon = torch.optim.Muon(
        matrices, lr=settings.lr, weight_decay=settings.weight_decay, adjust_lr_fn="match_rms_adamw"
    )
    adam = torch.optim.AdamW(others, lr=settings.lr, betas=(0.9, 0.95), weight_decay=0.0, fused=True)
    return [muon, adam]


def is_matrix(name: str, weight: torch.Tensor) -> bool:
    """Whether a weight turns vectors into vectors: neither an embedding nor a norm."""
    return weight.dim() == 2 and not name.startswith("embedding")


@dataclass
class Progress:
    """How far a run is."""

    step: int = 0
    seconds: float = 0.0
    documents: int = 0
    tokens: int = 0


def restore(path: Path, model: Tiny, optimizers: Sequence[torch.optim.Optimizer]) -> Progress:
    """Goes on from a checkpoint where there is one."""
    if not path.exists():
        return Progress()
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    for optimizer, own in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(own)
    return Progress(**state["progress"])


class Run:
    """A training run: the model, what it learns from, and how far it is."""

    def __init__(self, settings: Settings, config: Config) -> None:
        torch.manual_seed(settings.seed)
        torch.set_num_threads(settings.threads)
        settings.out.mkdir(parents=True, exist_ok=True)
        self.settings = settings
        self.corpus = load_corpus(settings.tokens)
        learned = len(self.corpus) - min(HELD_OUT, len(self.corpus) // 10)
        self.held_out = np.arange(learned, len(self.corpus))
        self.model = Tiny(config)
        self.optimizers = optimizers_of(self.model, settings)
        self.checkpoint = settings.out / "checkpoint.pt"
        self.progress = restore(self.checkpoint, self.model, self.optimizers)
        self.documents = Documents(learned, settings.seed, self.progress.documents)
        self.recent: list[float] = []

    def train(self) -> None:
        """Learns until the time is over."""
        settings, progress = self.settings, self.progress
        start = time.monotonic() - progress.seconds
        logged = saved = progress.seconds
        steps = batches(self.corpus, self.documents, settings, progress.step, self.model.config.context)
        while progress.seconds < 60 * settings.minutes:
            self.step(next(steps))
            progress.seconds = time.monotonic() - start
            if progress.seconds - logged >= 60 * settings.log_minutes:
                logged = progress.seconds
                self.log()
            if progress.seconds - saved >= 60 * settings.save_minutes:
                saved = progress.seconds
                self.save()
        self.log()
        self.save()

    def step(self, batch: Batch) -> None:
        """One step at the rate that the time asks for."""
        share = self.progress.seconds / (60 * self.settings.minutes)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(share, self.settings)
        self.recent.append(learn(self.model, self.optimizers, batch))
        self.progress.step += 1
        self.progress.documents = self.documents.taken
        self.progress.tokens += len(batch.tokens)

    def log(self) -> None:
        """A line on how it goes: the loss since the last line, and the losses on what is held out."""
        progress = self.progress
        entry = {
            "step": progress.step,
            "minutes": round(progress.seconds / 60, 2),
            "tokens": progress.tokens,
            "documents": progress.documents,
            "loss": round(float(np.mean(self.recent)), 4) if self.recent else None,
            "held_out": losses_by_task(self.model, self.corpus, self.held_out),
        }
        with (self.settings.out / "log.jsonl").open("a") as file:
            file.write(json.dumps(entry) + "\n")
        print(json.dumps(entry), flush=True)
        self.recent.clear()

    def save(self) -> None:
        """Writes a checkpoint; whoever reads finds the old one or the new one, whole."""
        state = {
            "config": self.model.config.as_dict(),
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "progress": vars(self.progress),
        }
        torch.save(state, self.checkpoint.with_suffix(".new"))
        os.replace(self.checkpoint.with_suffix(".new"), self.checkpoint)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=45)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--windows", type=int, default=6, help="full windows of a step that has them")
    parser.add_argument("--documents", type=int, default=96, help="documents a step")
    parser.add_argument("--rows", type=int, default=64, help="documents a block at most")
    parser.add_argument("--long-share", type=float, default=0.06, help="share of steps with full windows")
    parser.add_argument("--balance", type=float, default=0.5, help="0: tokens count alike, 1: documents do")
    parser.add_argument("--warm-up", type=float, default=0.02, help="share of the time")
    parser.add_argument("--decay", type=float, default=0.5, help="share of the time")
    parser.add_argument("--weight-decay", type=float, default=0.05)
    parser.add_argument("--log-minutes", type=float, default=2)
    parser.add_argument("--save-minutes", type=float, default=5)
    parser.add_argument("--dim", type=int, default=Config.dim)
    parser.add_argument("--layers", type=int, default=Config.layers)
    parser.add_argument("--heads", type=int, default=Config.heads)
    parser.add_argument("--hidden", type=int, default=Config.hidden)
    parser.add_argument("--vocabulary", type=int, default=Config.vocabulary)
    options = vars(parser.parse_args())
    shape = {name: options.pop(name) for name in ("dim", "layers", "heads", "hidden", "vocabulary")}
    Run(Settings(**options), Config(**shape)).train()


if __name__ == "__main__":
    main()
