"""Writes the model card from what the run left behind, so that no number in it is typed by hand.

Reads from the build folder: `tiny-q8_0.gguf`, `checkpoint.pt`, `log.jsonl`, `metrics.json`,
`corpus/manifest.json`, `search.json` where TypeScript has measured whole puzzles, and `met/*.json` where `espalier
doctor --judge` has measured the judge on states that searches met:

    {"results": [{"puzzle": "game24", "method": "best of 16", "solved": 40, "n": 60, "calls": 26.1}]}
    {"judge": {"states": 485, "good": 51, "auc": 0.976, "low": 0.94, "high": 0.99, "width": {"estimate": 51}}}

    python card.py --build build --out ../../models/tiny.md
"""

import argparse
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from export import NAME
from measures import wilson
from model import Config, Tiny, load_model

TEMPLATES_BEGIN, TEMPLATES_END = "<!-- templates:begin -->", "<!-- templates:end -->"
Row = Sequence[object]
Json = dict[str, Any]


def percent(share: float) -> str:
    """A share in per cent, with one digit."""
    return f"{100 * share:.1f} %"


def with_interval(measure: Json) -> str:
    """A rate with its interval."""
    low, high = measure["interval"]
    return f"{percent(measure['rate'])} ({100 * low:.1f}–{100 * high:.1f})"


def table(head: Row, rows: Iterable[Row]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def steps_table(tasks: Json) -> str:
    """Steps: legal and good, greedy and sampled."""
    rows = [
        [
            f"`{task}`",
            measures["greedy"]["legal"]["n"],
            with_interval(measures["greedy"]["legal"]),
            with_interval(measures["sampled"]["legal"]),
            with_interval(measures["greedy"]["good"]),
            with_interval(measures["sampled"]["good"]),
            percent(measures["by_chance"]),
        ]
        for task, measures in tasks.items()
        if "greedy" in measures
    ]
    head = ["task", "n", "legal, greedy", "legal, sampled", "good, greedy", "good, sampled", "good by chance"]
    return table(head, rows)


def judgements_table(tasks: Json) -> str:
    """Judgements: accuracy and calibration."""

    def area(measures: Json) -> str:
        value = measures["area_under_curve"]
        return "–" if value is None else f"{value:.3f}"

    rows = [
        [
            f"`{task}`",
            measures["accuracy"]["n"],
            with_interval(measures["accuracy"]),
            percent(measures["majority_share"]),
            percent(measures["balanced_accuracy"]),
            area(measures),
            f"{measures['calibration_error']:.3f}",
        ]
        for task, measures in tasks.items()
        if "accuracy" in measures
    ]
    head = ["task", "n", "accuracy", "most frequent word", "balanced accuracy", "AUC", "calibration error"]
    return table(head, rows)


def exact_table(tasks: Json) -> str:
    """Answers that have to be exact."""
    rows = [
        [f"`{task}`", measures["exact"]["n"], with_interval(measures["exact"])]
        for task, measures in tasks.items()
        if "exact" in measures
    ]
    return table(["task", "n", "exact, greedy"], rows)


MET = {
    "two": "two numbers left",
    "three": "three numbers left",
    "unseen": "three, which no puzzle leads to that was learnt",
}


def met_section(folder: Path) -> str:
    """The judge on states that searches met, where it was measured."""
    if not folder.exists():
        return ""
    rows = []
    for name, title in MET.items():
        judge = json.loads((folder / f"{name}.json").read_text())["judge"]
        area = f"{judge['auc']:.3f} ({judge['low']:.3f}–{judge['high']:.3f})"
        rows.append([title, judge["states"], judge["good"], area, f"{judge['width']['estimate']:.1f}"])
    return f"""
### Judgements of states that a search meets

The states of Game of 24 that MCTS met, as the demo runs it, on all held-out puzzles that can be solved, each state
once; in brackets the 95 % interval, in which states of one puzzle depend on one another. Siblings: how many such a
judge can choose between, exp(Φ⁻¹(AUC)²), an estimate of ours.

{table(["states", "n", "good", "AUC", "siblings"], rows)}
"""


def search_section(path: Path) -> str:
    """Whole puzzles, where they were measured."""
    if not path.exists():
        return ""
    rows = []
    for result in json.loads(path.read_text())["results"]:
        low, high = wilson(result["solved"], result["n"])
        share = f"{percent(result['solved'] / result['n'])} ({100 * low:.1f}–{100 * high:.1f})"
        solved = f"{result['solved']} of {result['n']}"
        rows.append([result["puzzle"], result["method"], solved, share, result["calls"]])
    return f"""
### Whole puzzles

Held-out puzzles that can be solved, searched by the library with this file.

{table(["puzzle", "method", "solved", "share", "calls a puzzle"], rows)}
"""


def architecture(config: Config, parameters: int, file: Path) -> str:
    """What the file holds."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return f"""Llama architecture: {parameters / 1e6:.2f} M parameters, {config.layers} layers, width {config.dim},
{config.heads} heads, feed-forward width {config.hidden}, context {config.context} tokens,
embeddings tied to the output.
Vocabulary: {config.vocabulary} pieces of the `llama` kind (byte-pair merges with byte fallback). Chat format:
`<s>` once, then `<|role|>content</s>` for each message.

`tiny-q8_0.gguf`: {file.stat().st_size / 1e6:.2f} MB, sha256 `{digest}`."""


def data_section(manifest: Json) -> str:
    """What it was trained on."""
    total = sum(manifest["mixture"].values())
    rows = [[f"`{kind}`", percent(weight / total)] for kind, weight in manifest["mixture"].items()]
    return f"""Generated by `training/tiny/corpus/` (seed `{manifest["seed"]}`):
{manifest["lines"]:,} lines; nothing was collected. A step to learn from is, with a chance of
{percent(manifest["goodShare"])}, drawn from those that keep the goal reachable, else from all legal ones: a model
that errs now and then is worth searching with. Puzzles that it is measured on were held out by a hash of the
puzzle, before anything else; the states that follow from them may also follow from puzzles that were learnt.

{table(["kind of line", "share"], rows)}"""


def training_section(last: Json, minutes: float) -> str:
    """How it was trained."""
    return f"""`make -C training tiny MINUTES={minutes:.0f}` on CPU cores: {minutes:.0f} minutes,
{last["step"]:,} steps, {last["documents"]:,} documents, {last["tokens"] / 1e6:.1f} M tokens (a beginning that many
documents of a step share counts once). Muon for the matrices, AdamW for embeddings and norms."""


def templates_section(templates: Json) -> str:
    """The prompts it was trained on, as hashes that a test reads."""
    block = json.dumps(templates, indent=2)
    return f"{TEMPLATES_BEGIN}\n\n```json\n{block}\n```\n\n{TEMPLATES_END}"


def card(build: Path) -> str:
    """The whole card."""
    model: Tiny = load_model(str(build / "checkpoint.pt"))
    manifest = json.loads((build / "corpus" / "manifest.json").read_text())
    metrics = json.loads((build / "metrics.json").read_text())
    last = json.loads((build / "log.jsonl").read_text().splitlines()[-1])
    tasks = metrics["tasks"]
    parameters = sum(weight.numel() for weight in model.parameters())
    return f"""# {NAME}

A toy: a language model of a few megabytes for trying and testing tree search without a network, a key or a
graphics card. It writes steps of Game of 24, Countdown and Blocksworld, judges states, does short sums and
writes tool calls, in the prompts of this library and in no others. It is not for work.

Written by `training/tiny/card.py`; not edited by hand. Licence: MIT.

## The file

{architecture(model.config, parameters, build / "tiny-q8_0.gguf")}

## Data

{data_section(manifest)}

## Training

{training_section(last, last["minutes"])}

## Measured

On held-out puzzles, with the quantised file (`{metrics["model"]}`, seed {metrics["seed"]}); in brackets the 95 %
Wilson interval.

### Steps

Legal: a step of the puzzle in the right form. Good: it keeps the goal reachable (Blocksworld: it is on a shortest
way), counted where such a step exists. By chance: picking any legal step. Sampled at temperature 1.

{steps_table(tasks)}

### Judgements

The word (sure, likely, impossible) is read from the first token. AUC and calibration are of P(sure) + P(likely)
against not being impossible; the calibration error is the expected one in ten bins. No AUC where nothing is
impossible.

{judgements_table(tasks)}
{met_section(build / "met")}
### Exact answers

{exact_table(tasks)}
{search_section(build / "search.json")}
## Prompts it was trained on

Hashes of the prompts that the policy and the judge write. Where one changes, the model has to be trained again.

{templates_section(manifest["templates"])}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(card(options.build), encoding="utf-8")


if __name__ == "__main__":
    main()
