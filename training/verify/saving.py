"""What is saved with a model besides its weights, before a trainer had it and after."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cases import expect_equal

#: What TRL's trainers set, whatever they train on: a cache is of no use to training.
SET_BY_TRAINERS = ('"use_cache": true', '"use_cache": false')


def saved(*parts: Any) -> dict[str, str]:
    """The files that are saved of models, tokenizers or trainers, but for the weights, as text."""
    with tempfile.TemporaryDirectory() as folder:
        for part in parts:
            save = part.save_model if hasattr(part, "save_model") else part.save_pretrained
            save(folder)
        files = {
            file.name: file.read_text(encoding="utf-8")
            for file in Path(folder).iterdir()
            if file.suffix in (".json", ".jinja", ".txt")
        }
    files["config.json"] = files["config.json"].replace(*SET_BY_TRAINERS)
    return {name: files[name] for name in sorted(files)}


def expect_saved(trainer: Any, before: dict[str, str]) -> None:
    """The trainer saves what was there before it."""
    after = saved(trainer)
    expect_equal(sorted(after), sorted(before), "the files that are saved")
    for name, text in before.items():
        expect_equal(after[name], text, f"{name} as it is saved")


@contextmanager
def end_token_put_aside(tokenizer: Any, aside: bool = True) -> Iterator[None]:
    """The second recipe of the guide: the tokenizer has no end token while a trainer is made of files that hold it."""
    end = tokenizer.eos_token
    if aside:
        tokenizer.eos_token = ""
    try:
        yield
    finally:
        tokenizer.eos_token = end
