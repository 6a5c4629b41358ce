"""The files that `rows.ts` wrote, what the trees say of their rows, and how a check reports."""

import argparse
import json
import logging
import math
import os
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from datasets import Dataset, Features, disable_progress_bars, load_dataset
from transformers.trainer_callback import PrinterCallback
from transformers.utils.logging import disable_progress_bar

from text import chatml

Expected = dict[str, Any]


class Failed(Exception):
    """What a check found."""


def expect(holds: bool, message: str) -> None:
    """Fails a check."""
    if not holds:
        raise Failed(message)


def expect_equal(got: object, wanted: object, what: str) -> None:
    """Fails a check, and tells both."""
    if got == wanted:
        return
    one, other = repr(wanted), repr(got)
    same = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    start = max(0, same - 40)
    raise Failed(f"expected {what} to be …{one[start : same + 160]}, got …{other[start : same + 160]}")


@dataclass(frozen=True)
class Case:
    """Files of one form, made by one rule from the trees of one world."""

    root: Path
    folder: str
    family: str
    kind: str
    rule: str
    way: str
    world: str
    wholeTurns: bool
    columns: dict[str, Any]
    rows: int
    refused: int
    expected: str

    @property
    def name(self) -> str:
        """What reports call it."""
        way = "" if self.way == "plain" else f" {self.way}"
        return f"{self.family} {self.world}/{self.rule}{way}"

    def path(self, kind: str) -> Path:
        """The folder of its files."""
        return self.root / self.folder / kind

    def files(self, kind: str) -> list[str]:
        """Its files, in order."""
        return sorted(str(file) for file in self.path(kind).glob(f"*.{kind}"))

    def load(self, kind: str = "jsonl") -> Dataset:
        """Its rows, as a trainer would load them."""
        return load(kind, self.files(kind))

    @cached_property
    def by_key(self) -> dict[str, Expected]:
        """What the trees say, by tree and nodes."""
        lines = (self.root / self.expected).read_text(encoding="utf-8").splitlines()
        rows = list(map(json.loads, lines))
        by_key = {row["key"]: row for row in rows}
        expect(all(by_key[row["key"]] == row for row in rows), "rows of the same nodes say different things")
        return by_key

    def in_order(self) -> list[Expected]:
        """What the trees say of the rows of the file, in its order."""
        return [self.of(row) for row in self.load()]

    def prompt_text(self, expected: Expected) -> str:
        """The prompt as the text of the file should have it."""
        return chatml(expected["prompt"]) if self.way == "chatml" else expected["text"]

    def of(self, row: dict[str, Any]) -> Expected:
        """What the tree says of a row of the file, found by the columns that tell where it comes from."""
        key = f"{row['tree_id']}|{','.join(map(str, row['node_ids']))}"
        expect(key in self.by_key, f"the tree knows no row {key}")
        return self.by_key[key]


def load(kind: str, files: list[str], features: Features | None = None) -> Dataset:
    """Rows of files as `datasets` reads them, with nothing kept from an earlier time."""
    builder = "json" if kind == "jsonl" else "parquet"
    with tempfile.TemporaryDirectory() as cache:
        return load_dataset(
            builder, data_files=files, split="train", features=features, cache_dir=cache, keep_in_memory=True
        )


def read_cases(root: Path) -> list[Case]:
    """Everything that was written."""
    entries = json.loads((root / "manifest.json").read_text(encoding="utf-8"))
    return [Case(root=root, **entry) for entry in entries]


@dataclass
class Report:
    """Runs checks, and prints a line for each."""

    words: list[str]
    failures: int = 0
    ran: int = 0
    names: set[str] = field(default_factory=set)

    def check(self, name: str, run: Callable[[], tuple[int, str]]) -> None:
        """Runs a check, which gives the number of rows and a figure. Only those that were asked for run."""
        if self.words and not any(word in name for word in self.words):
            return
        self.ran += 1
        began = time.monotonic()
        try:
            rows, figure = run()
            verdict = "ok"
        except Failed as failure:
            rows, figure, verdict = 0, str(failure)[:600], "FAILED"
        except Exception as error:  # A trainer may throw anything: the other checks still run.
            where = traceback.extract_tb(error.__traceback__)[-1]
            figure = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"[:600]
            rows, verdict = 0, "FAILED"
        self.failures += verdict == "FAILED"
        print(f"{name}: {rows} rows, {figure}, {time.monotonic() - began:.1f} s: {verdict}", flush=True)


@contextmanager
def warnings_of(*loggers: str) -> Iterator[list[str]]:
    """The warnings that some packages log meanwhile."""
    caught: list[str] = []

    class Catch(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            caught.append(record.getMessage())

    handler = Catch(level=logging.WARNING)
    for name in loggers:
        logging.getLogger(name).addHandler(handler)
    try:
        yield caught
    finally:
        for name in loggers:
            logging.getLogger(name).removeHandler(handler)


def expect_silence(caught: list[str]) -> None:
    """Fails where a trainer complains of how prompts and completions fit together."""
    complaints = [message for message in caught if "prefix of the tokenized" in message or "Mismatch" in message]
    expect(not complaints, f"the trainer warns: {complaints[:1]}")


def expect_finite(history: list[dict[str, float]], steps: int = 2) -> str:
    """The losses of the steps taken, all of them numbers."""
    losses = [entry["loss"] for entry in history if "loss" in entry]
    expect_equal(len(losses), steps, "the number of steps")
    expect(all(math.isfinite(loss) for loss in losses), f"the losses are {losses}")
    return f"loss {losses[-1]:.3f}"


def quiet(trainer: Any) -> Any:
    """The trainer, without what it prints at each step."""
    trainer.remove_callback(PrinterCallback)
    return trainer


def settings(**more: Any) -> dict[str, Any]:
    """What every trainer is told: two steps on the processor, and nothing is reported or kept."""
    return {
        "output_dir": os.path.join(tempfile.gettempdir(), "espalier-trainers"),
        "max_steps": 2,
        "per_device_train_batch_size": 4,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": [],
        "use_cpu": True,
        "bf16": False,
        "gradient_checkpointing": False,
        "disable_tqdm": True,
        "learning_rate": 1e-3,
        **more,
    }


def main(about: str | None, *checks: Callable[[Report, list[Case]], None]) -> None:
    """Runs checks as a command."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that rows.ts has filled")
    parser.add_argument("--checks", default="", help="words: only checks whose names hold one of them")
    options = parser.parse_args()
    # What each check has to say stands in its line; warnings are caught where they matter.
    warnings.simplefilter("ignore")
    logging.getLogger().addHandler(logging.NullHandler())
    logging.disable(logging.INFO)
    disable_progress_bars()
    disable_progress_bar()
    report = Report(options.checks.split())
    for check in checks:
        check(report, read_cases(options.data))
    print(f"{report.ran} checks, {report.failures} failed")
    # Words may name checks of another process alone.
    sys.exit(1 if report.failures or not (report.ran or report.words) else 0)
