"""LLaMA-Factory's loader reads the files by their `dataset_info.json`, and its processors make tokens of them.

    PYTHONPATH=<folder of requirements-llama-factory.txt> python llama_factory.py --data build
"""

import contextlib
import importlib.machinery
import io
import json
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

# Only sounds need it, and no version of it loads with this PyTorch.
_SILENT = types.ModuleType("torchaudio")
_SILENT.__spec__ = importlib.machinery.ModuleSpec("torchaudio", None)
sys.modules["torchaudio"] = _SILENT

import toy  # noqa: E402
from cases import Case, Expected, Report, expect, expect_equal, main  # noqa: E402
from llamafactory.data import get_dataset, get_template_and_fix_tokenizer  # noqa: E402
from llamafactory.extras.constants import IGNORE_INDEX  # noqa: E402
from llamafactory.hparams import get_train_args  # noqa: E402

STAGES = {"preference": "dpo", "unpaired": "kto", "sft": "sft"}


def check_llama_factory(report: Report, cases: list[Case]) -> None:
    """Every file that LLaMA-Factory reads."""
    for case in cases:
        if case.family == "llama-factory-sharegpt" or (case.family == "llama-factory" and case.world != "tools"):
            for kind in ("jsonl", "parquet"):
                report.check(f"LLaMA-Factory {case.name} {kind}", lambda own=case, k=kind: _load(own, k))


def _load(case: Case, kind: str) -> tuple[int, str]:
    folder = case.path(kind)
    names = list(json.loads((folder / "dataset_info.json").read_text(encoding="utf-8")))
    text = case.family == "llama-factory"
    tokenizer = toy.tokenizer_of(_texts(case))
    with tempfile.TemporaryDirectory() as cache:
        stage = STAGES[case.kind]
        model, data, training, _, _ = get_train_args(
            {
                "model_name_or_path": "none",
                "stage": stage,
                "do_train": True,
                "dataset_dir": str(folder),
                "dataset": ",".join(names),
                "template": "empty" if text else "qwen",
                "cutoff_len": 4096,
                "output_dir": str(Path(cache) / "out"),
                "cache_dir": cache,
                "report_to": "none",
                "use_cpu": True,
                "preprocessing_num_workers": 1,
                "overwrite_cache": True,
            }
        )
        template = get_template_and_fix_tokenizer(tokenizer, data)
        with contextlib.redirect_stdout(io.StringIO()):  # It prints its first row.
            rows = get_dataset(
                template, model, data, training, stage="rm" if stage == "dpo" else stage, tokenizer=tokenizer
            )["train_dataset"]
        expect_equal(len(rows), case.rows, "the number of rows that are kept")
        wanted = case.in_order()
        for row, expected in zip(rows, wanted, strict=True):
            _expect_row(case, tokenizer, row, expected)
    return case.rows, f"entries {', '.join(names)}"


def _expect_row(case: Case, tokenizer: Any, row: dict[str, Any], expected: Expected) -> None:
    sides = {"preference": ("chosen", "rejected"), "unpaired": ("completion",), "sft": ("completion",)}[case.kind]
    prefixes = {"chosen": "chosen_", "rejected": "rejected_", "completion": ""}
    for side in sides:
        ids, labels = row[f"{prefixes[side]}input_ids"], row[f"{prefixes[side]}labels"]
        start = next(place for place, label in enumerate(labels) if label != IGNORE_INDEX)
        prompt, completion = tokenizer.decode(ids[:start]), tokenizer.decode(ids[start:])
        if case.family == "llama-factory":
            # The template `empty` puts nothing around the text, and no token before it.
            expect_equal(prompt, case.prompt_text(expected), "the prompt")
            end = toy.END if case.way == "chatml" and expected["ends"][side] else ""
            expect_equal(completion, expected["texts"][side] + end, side)
        else:
            _expect_turns(prompt, completion, (expected, side))
    if case.kind == "unpaired":
        expect_equal(row["kto_tags"], expected["label"], "the label")


def _expect_turns(prompt: str, completion: str, wanted: tuple[Expected, str]) -> None:
    expected, side = wanted
    for turn in expected["prompt"]:
        expect(turn["content"] in prompt, f"the prompt lacks {turn['content']!r}")
    for turn in expected["sides"][side]:
        expect(turn["content"] in completion, f"the completion lacks {turn['content']!r}")
        for call in turn["calls"]:
            expect(json.dumps(call["input"], ensure_ascii=False) in completion, f"the call is {completion!r}")
    expect_equal(completion.count(toy.END), 1, "the number of end tokens")


def _texts(case: Case) -> list[str]:
    return [text for expected in case.by_key.values() for text in [expected["text"], *expected["texts"].values()]]


if __name__ == "__main__":
    main(__doc__, check_llama_factory)
