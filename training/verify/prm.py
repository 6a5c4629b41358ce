"""TRL's trainer of process reward models, which TRL has up to 1.13: started with that version on the path.

    PYTHONPATH=<folder of requirements-prm.txt> python prm.py --data build
"""

import toy
from cases import Case, Report, expect_equal, expect_finite, main, quiet, settings
from datasets import Dataset
from trl.experimental.prm import PRMConfig, PRMTrainer


def check_steps(report: Report, cases: list[Case]) -> None:
    """Every file of labelled steps that TRL reads."""
    for case in cases:
        if case.kind == "stepwise" and case.family == "trl" and case.world != "tools":
            report.check(f"PRMTrainer {case.name}", lambda own=case: _prm(own))


def _prm(case: Case) -> tuple[int, str]:
    rows = case.load()
    separators = set(rows["delimiter"])
    expect_equal(len(separators), 1, "the number of separators")
    separator = separators.pop()
    tokenizer = toy.tokenizer_of([text for row in rows for text in [row["prompt"], *row["completions"]]])
    trainer = PRMTrainer(
        model=toy.model_of(tokenizer, "steps"),
        args=PRMConfig(**settings(step_separator=separator, max_length=4096)),
        train_dataset=rows,
        processing_class=tokenizer,
    )
    quiet(trainer).train()
    trained: Dataset = trainer.train_dataset
    expect_equal(len(trained), case.rows, "the number of rows that are trained on")
    labels = 0
    for row, source in zip(trained, rows, strict=True):
        expected = case.of(source)
        partial = expected["prompt"][-1]["role"] == "assistant"
        steps = [*expected["steps"]]
        steps[0] = (" " if partial else "") + steps[0]
        # A label stands on the last token of a step, its separator included.
        ends = [place + 1 for place, label in enumerate(row["labels"]) if label != -100]
        expect_equal([row["labels"][end - 1] for end in ends], [int(label) for label in expected["labels"]], "labels")
        expect_equal(ends[-1], len(row["input_ids"]), "the place of the last label")
        pieces = [tokenizer.decode(row["input_ids"][a:b]) for a, b in zip([0, *ends], ends, strict=False)]
        wanted = [step + separator for step in steps]
        expect_equal(pieces, [toy.BEGIN + case.prompt_text(expected) + wanted[0], *wanted[1:]], "the steps")
        labels += len(ends)
    return case.rows, f"{expect_finite(trainer.state.log_history)}, {labels} labels"


if __name__ == "__main__":
    main(__doc__, check_steps)
