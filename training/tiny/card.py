"""Writes the model card from the files of the training run, so that no number in it is typed by hand.

Reads from the build folder: `tiny-q8_0.gguf`, `checkpoint.pt`, `log.jsonl`, `metrics.json`,
`corpus/manifest.json`, `search.json` if TypeScript has measured whole puzzles, and `met/*.json` if `espalier
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
    "unseen": "three, not reachable from any training puzzle",
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

The states of Game of 24 that MCTS, configured as in the demo, met on all solvable held-out puzzles, each state
once; in brackets the 95 % interval, which allows for states of one puzzle not being independent. Siblings: the
number that such a judge can choose between, exp(Φ⁻¹(AUC)²), our own estimate.

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

Solvable held-out puzzles, searched by the library with this file.

{table(["puzzle", "method", "solved", "share", "calls per puzzle"], rows)}
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
    """The training data."""
    total = sum(manifest["mixture"].values())
    rows = [[f"`{kind}`", percent(weight / total)] for kind, weight in manifest["mixture"].items()]
    return f"""Generated by `training/tiny/corpus/` (seed `{manifest["seed"]}`):
{manifest["lines"]:,} lines; no data was collected. With probability {percent(manifest["goodShare"])}, a training
step is drawn from those that keep the goal reachable, otherwise from all legal steps: search can only help a model
that sometimes errs. The puzzles for the measurements were held out first, by a hash of the puzzle; their states
may also be reachable from training puzzles.

{table(["kind of line", "share"], rows)}"""


def training_section(last: Json, minutes: float) -> str:
    """How it was trained."""
    return f"""`make -C training tiny MINUTES={minutes:.0f}` on CPU cores: {minutes:.0f} minutes,
{last["step"]:,} steps, {last["documents"]:,} documents, {last["tokens"] / 1e6:.1f} M tokens (a prefix that several
documents of a training step share counts once). Muon for the matrices, AdamW for embeddings and norms."""


def templates_section(templates: Json) -> str:
    """Hashes of the prompts that the model was trained on, which a test reads."""
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
writes tool calls, with the prompts of this library and no others. It is not meant for real work.

Generated by `training/tiny/card.py`; do not edit. Licence: MIT.

## The file

{architecture(model.config, parameters, build / "tiny-q8_0.gguf")}

## Data

{data_section(manifest)}

## Training

{training_section(last, last["minutes"])}

## Measurements

On held-out puzzles, with the quantised file (`{metrics["model"]}`, seed {metrics["seed"]}); in brackets the 95 %
Wilson interval.

### Steps

Legal: a legal step in the right format. Good: it keeps the goal reachable (Blocksworld: it is on a shortest
path); only states with such a step count. By chance: a random legal step. Sampled at temperature 1.

{steps_table(tasks)}

### Judgements

The word (sure, likely, impossible) is read from the first token. AUC and calibration compare P(sure) + P(likely)
with whether the goal can still be reached; the calibration error is the expected calibration error over ten bins.
There is no AUC for tasks in which no state is impossible.

{judgements_table(tasks)}
{met_section(build / "met")}
### Exact answers

{exact_table(tasks)}
{search_section(build / "search.json")}
## Prompts it was trained on

Hashes of the prompts that the policy and the judge write. If one changes, the model must be trained again.

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
