"""TRL's trainers of single completions and of prompts."""

from typing import Any

from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

import chat
import toy
from cases import (
    Case,
    Report,
    expect_equal,
    expect_finite,
    expect_silence,
    quiet,
    settings,
    warnings_of,
)
from preferences import ALWAYS, AS_TREE, BY_FILE, expect_row, texts_of, whole_turns
from recipes import StepSFTTrainer
from saving import end_token_put_aside, expect_saved, saved

LOGGERS = ("trl.trainer.sft_trainer", "trl.trainer.grpo_trainer")


def check_others(report: Report, cases: list[Case]) -> None:
    """Every file of prompts, with completions and without."""
    for case in cases:
        if not case.family.startswith("trl") or (case.family == "trl" and case.world == "tools"):
            continue
        if case.family == "trl-tools" and case.world != "tools":
            continue
        if case.way != "plain" and case.world != "continued":
            continue  # The same texts with other turns around them.
        if case.kind in ("sft", "rollout"):
            report.check(f"SFTTrainer {case.name}", lambda own=case: _sft(own, SFTTrainer, ALWAYS))
            for name, template in toy.templates().items() if case.family == "trl-tools" else ():
                report.check(
                    f"SFTTrainer {case.name} template {name}",
                    lambda own=case, text=template: _sft(own, SFTTrainer, ALWAYS, text),
                )
            if case.way == "chatml" and case.kind == "sft":  # These files hold the end token.
                report.check(f"SFTTrainer without end token {case.name}", lambda own=case: _sft(own, SFTTrainer, BY_FILE))
            if case.family == "trl" and "ends" in case.columns:
                report.check(f"StepSFTTrainer {case.name}", lambda own=case: _sft(own, StepSFTTrainer, AS_TREE))
        elif case.kind == "prompt":
            report.check(f"GRPOTrainer {case.name}", lambda own=case: _grpo(own))


def _sft(case: Case, trainer_class: type[SFTTrainer], ends: str, template: str | None = None) -> tuple[int, str]:
    rows = case.load()
    tokenizer = toy.tokenizer_of(texts_of(case))
    tokenizer.chat_template = template or tokenizer.chat_template
    model = toy.model_of(tokenizer)
    before = saved(model, tokenizer)
    with warnings_of(*LOGGERS) as caught:
        with end_token_put_aside(tokenizer, ends == BY_FILE):
            trainer = trainer_class(
                model=model,
                # What tools answered stands in a completion too, and is not to be learnt.
                args=SFTConfig(**settings(max_length=4096, assistant_only_loss=case.family == "trl-tools")),
                train_dataset=rows,
                processing_class=tokenizer,
            )
        quiet(trainer).train()
    expect_silence(caught)
    expect_saved(trainer, before)
    trained = trainer.train_dataset
    expect_equal(len(trained), case.rows, "the number of rows that are trained on")
    for row in trained:
        expected = case.of(row)
        learnt = [label != -100 for label in row["labels"]]
        start = learnt.index(True)
        if case.family == "trl-tools":
            said = [turn for turn in expected["sides"]["completion"] if turn["role"] == "assistant"]
            own = [token for token, learns in zip(row["input_ids"], learnt, strict=True) if learns]
            # Templates leave out the header of the turns, and some let the line break behind a turn be learnt too.
            texts = [text.lstrip("\n") for text in tokenizer.decode(own).split(toy.END)]
            expect_equal(texts[-1], "", "what is learnt behind the last turn")
            expect_equal(len(texts), len(said) + 1, "the number of turns that are learnt")
            for text, turn in zip(texts, said, strict=False):
                chat.expect_completion(f"{text}{toy.END}\n", [turn])
        else:
            expect_equal(learnt, [place >= start for place in range(len(learnt))], "what is learnt")
        ids = row["input_ids"][:start], row["input_ids"][start:]
        expect_row(case, tokenizer, ids, (expected, "completion", ends))
    return case.rows, f"{expect_finite(trainer.state.log_history)}, {ends}"


def _grpo(case: Case) -> tuple[int, str]:
    rows = case.load()
    tokenizer = toy.tokenizer_of(texts_of(case))
    asked: list[tuple[list[int], Any]] = []
    rewarded: list[tuple[Any, str, str]] = []

    def reward(prompts: list, completions: list, answer: list[str], problem_id: list[str], **_: Any) -> list[float]:
        rewarded.extend(zip(prompts, answer, problem_id, strict=True))
        return [float(len(str(completion)) % 3) for completion in completions]

    trainer = GRPOTrainer(
        model=toy.model_of(tokenizer),
        reward_funcs=reward,
        args=GRPOConfig(**settings(num_generations=2, max_completion_length=4)),
        train_dataset=rows,
        processing_class=tokenizer,
    )
    tokenize = trainer._tokenize_prompts

    def watched(prompts: list) -> Any:
        result = tokenize(prompts)
        asked.extend(zip(result[0], prompts, strict=True))
        return result

    trainer._tokenize_prompts = watched
    quiet(trainer).train()
    wanted = {expected["problem"]: expected for expected in case.by_key.values()}
    by_prompt = {str(row["prompt"]): wanted[row["problem_id"]] for row in rows}
    expect_equal(len(trainer.train_dataset), case.rows, "the number of rows that are trained on")
    for ids, prompt in asked:
        expected = by_prompt[str(prompt)]
        text = tokenizer.decode(ids)
        if case.family == "trl":
            # A text is a text: TRL puts no template around it.
            expect_row(case, tokenizer, (ids, []), (expected, "", ALWAYS))
        else:
            chat.expect_prompt(text, whole_turns(expected["prompt"], [])[0], [])
    for prompt, answer, problem in rewarded:
        expect_equal(by_prompt[str(prompt)]["problem"], problem, "the problem that is rewarded")
        expect_equal(answer, wanted[problem]["answer"], "the answer that is rewarded")
    return case.rows, f"{expect_finite(trainer.state.log_history)}, {len(asked)} prompts, {len(rewarded)} rewards"
