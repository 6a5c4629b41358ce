"""Measures the shipped file, quantised as it is, on puzzles that were held out.

Three kinds of questions: a step (is it legal, does it keep the goal reachable), a judgement (sure, likely or
impossible: accuracy, calibration) and an exact answer. Whether whole puzzles get solved is measured in
TypeScript, by searching.

    python evaluate.py --gguf build/tiny-q8_0.gguf --questions build/corpus/eval.jsonl --out build/metrics.json
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from chat import EOS, encode_prompt
from export import read_gguf
from measures import area_under_curve, balanced_accuracy, calibration_error, majority_share, rate
from model import Tiny
from tokenizer import Vocabulary

LABELS = ("sure", "likely", "impossible")
ROWS = 256
Question = dict[str, Any]
Measures = dict[str, Any]


def portions(prompts: Sequence[list[int]]) -> Iterator[list[int]]:
    """Indices of prompts of equal length, in portions: so no row has to be filled up."""
    by_length: dict[int, list[int]] = defaultdict(list)
    for index, prompt in enumerate(prompts):
        by_length[len(prompt)].append(index)
    for members in by_length.values():
        for start in range(0, len(members), ROWS):
            yield members[start : start + ROWS]


@torch.no_grad()
def answers(
    model: Tiny,
    prompts: Sequence[list[int]],
    temperature: float,
    generator: torch.Generator,
    limit: int,
) -> list[list[int]]:
    """What the model writes after each prompt, up to `</s>` or a limit. Temperature 0 takes the likeliest token."""
    written: list[list[int]] = [[] for _ in prompts]
    for members in portions(prompts):
        rows, cache = torch.tensor([prompts[i] for i in members]), model.empty_cache()
        columns = []
        ended = torch.zeros(len(members), dtype=torch.bool)
        for _ in range(min(limit, model.config.context - rows.shape[1])):
            logits = model.step(rows if not columns else columns[-1], cache)
            columns.append(pick(logits, temperature, generator))
            ended |= columns[-1][:, 0] == EOS
            if bool(ended.all()):
                break
        for index, row in zip(members, torch.cat(columns, 1).tolist(), strict=True):
            written[index] = row[: row.index(EOS)] if EOS in row else row
    return written


def pick(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    """The next token of each row."""
    if temperature == 0:
        return logits.argmax(-1, keepdim=True)
    return torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=generator)


@torch.no_grad()
def label_shares(model: Tiny, prompts: Sequence[list[int]], first_tokens: Sequence[int]) -> list[list[float]]:
    """For each prompt the probabilities of the three words, read from the first token of the answer, summing to 1."""
    shares: list[list[float]] = [[] for _ in prompts]
    for members in portions(prompts):
        logits = model.step(torch.tensor([prompts[i] for i in members]), model.empty_cache())
        for index, share in zip(members, torch.softmax(logits[:, first_tokens], -1).tolist(), strict=True):
            shares[index] = share
    return shares


class Evaluation:
    """A model with its vocabulary, and how each kind of question is measured."""

    def __init__(self, model: Tiny, vocabulary: Vocabulary, seed: int, limit: int) -> None:
        self.model, self.vocabulary, self.limit = model, vocabulary, limit
        self.generator = torch.Generator().manual_seed(seed)

    def prompts(self, questions: Sequence[Question]) -> list[list[int]]:
        """The questions in tokens."""
        return [encode_prompt(self.vocabulary.encode, question["messages"]) for question in questions]

    def texts(self, questions: Sequence[Question], temperature: float) -> list[str]:
        """The answers as text."""
        written = answers(self.model, self.prompts(questions), temperature, self.generator, self.limit)
        return [self.vocabulary.decode(tokens).strip() for tokens in written]

    def steps(self, questions: Sequence[Question]) -> Measures:
        """How many steps are legal, and how many keep the goal reachable where that is possible."""
        measures: Measures = {}
        for name, temperature in (("greedy", 0.0), ("sampled", 1.0)):
            texts = self.texts(questions, temperature)
            pairs = list(zip(texts, questions, strict=True))
            measures[name] = {
                "legal": rate([text in question["legal"] for text, question in pairs]),
                "good": rate([text in question["good"] for text, question in pairs if question["good"]]),
            }
        return measures | {"by_chance": chance_of_good(questions)}

    def judgements(self, questions: Sequence[Question]) -> Measures:
        """How often the word is right, and how far its probabilities can be trusted."""
        first_tokens = [self.vocabulary.encode(label)[0] for label in LABELS]
        shares = label_shares(self.model, self.prompts(questions), first_tokens)
        labels = [question["label"] for question in questions]
        predictions = [LABELS[max(range(len(LABELS)), key=share.__getitem__)] for share in shares]
        possible = [share[0] + share[1] for share in shares]
        outcomes = [label != "impossible" for label in labels]
        area = area_under_curve(possible, outcomes)
        return {
            "accuracy": rate([label == prediction for label, prediction in zip(labels, predictions, strict=True)]),
            "balanced_accuracy": round(balanced_accuracy(labels, predictions), 4),
            "majority_share": round(majority_share(labels), 4),
            "calibration_error": round(calibration_error(possible, outcomes), 4),
            "area_under_curve": None if area is None else round(area, 4),
        }

    def exact(self, questions: Sequence[Question]) -> Measures:
        """How often the likeliest answer is the right one, to the letter."""
        texts = self.texts(questions, 0.0)
        pairs = zip(texts, questions, strict=True)
        return {"exact": rate([text == question["answer"].strip() for text, question in pairs])}


def chance_of_good(questions: Sequence[Question]) -> float:
    """The share of good steps among the legal ones, where there is a good one: what picking blindly gives."""
    shares = [len(question["good"]) / len(question["legal"]) for question in questions if question["good"]]
    return round(sum(shares) / len(shares), 4) if shares else 0.0


def measure_of(evaluation: Evaluation, question: Question) -> Callable[[Sequence[Question]], Measures] | None:
    """How a question is measured: by what it brings; nothing where it brings nothing to hold an answer against."""
    if "legal" in question:
        return evaluation.steps
    if "label" in question:
        return evaluation.judgements
    return evaluation.exact if "answer" in question else None


def evaluate(evaluation: Evaluation, questions: Sequence[Question]) -> dict[str, Measures]:
    """The measures of each task."""
    by_task: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        if measure_of(evaluation, question) is not None:
            by_task[question["task"]].append(question)
    results: dict[str, Measures] = {}
    for task, members in by_task.items():
        kinds = defaultdict(list)
        for question in members:
            kinds[measure_of(evaluation, question)].append(question)
        for measure, some in kinds.items():
            results[task] = results.get(task, {}) | measure(some)
        print(task, json.dumps(results[task]), flush=True)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gguf", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=96, help="tokens of an answer")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    start = time.monotonic()
    evaluation = Evaluation(*read_gguf(options.gguf), options.seed, options.limit)
    questions = [json.loads(line) for line in options.questions.read_text(encoding="utf-8").splitlines()]
    tasks = evaluate(evaluation, questions)
    result = {
        "model": options.gguf.name,
        "seed": options.seed,
        "seconds": round(time.monotonic() - start, 1),
        "tasks": tasks,
    }
    options.out.write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
