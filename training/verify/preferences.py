"""TRL's trainers of preferences, on pairs and on single completions: what they really train on is what the tree said."""

from collections.abc import Callable
from typing import Any

from trl import DPOConfig, DPOTrainer, KTOConfig, KTOTrainer, RewardConfig, RewardTrainer

import chat
import toy
from cases import Case, Expected, Report, expect, expect_equal, expect_finite, expect_silence, quiet, settings, warnings_of
from recipes import StepDPOTrainer, StepKTOTrainer
from saving import end_token_put_aside, expect_saved, saved
from text import Turn

LOGGERS = ("trl.trainer.dpo_trainer", "trl.trainer.kto_trainer", "trl.trainer.reward_trainer")

#: The rules of single steps: there TRL alone is seen to do what the recipes undo.
BARE = ("steps", "unpaired-siblings")

#: Where the end token stands behind text: as the tree says, or as TRL alone has it.
AS_TREE, ALWAYS = "the end token where the tree ends", "the end token behind every text"
#: The other recipe: the files hold the end token, and the tokenizer has none while it trains.
BY_FILE = "the end token where the file has it"


def check_preferences(report: Report, cases: list[Case]) -> None:
    """Every file of pairs and of single completions that TRL reads."""
    for case in cases:
        text = case.family in ("trl", "trl-reward")
        if text and case.world == "tools":
            continue  # What calls look like as text is the format's own business.
        if case.family == "trl-tools" and case.world != "tools":
            continue  # The same as without tools, but for columns that are null.
        if case.way != "plain" and case.world != "continued":
            continue  # The same texts with other turns around them.
        written = text and case.way == "chatml"  # These files hold the end token.
        bare = text and case.way == "plain" and case.rule in BARE
        if case.kind == "preference" and case.family in ("trl", "trl-conversational", "trl-tools"):
            report.check(f"DPOTrainer {case.name}", lambda own=case: _dpo(own, StepDPOTrainer, AS_TREE))
            for name, template in toy.templates().items() if case.family == "trl-tools" else ():
                report.check(
                    f"DPOTrainer {case.name} template {name}",
                    lambda own=case, text=template: _dpo(own, DPOTrainer, AS_TREE, text),
                )
            if bare:
                report.check(f"DPOTrainer alone {case.name}", lambda own=case: _dpo(own, DPOTrainer, ALWAYS))
            if written:
                report.check(f"DPOTrainer without end token {case.name}", lambda own=case: _dpo(own, DPOTrainer, BY_FILE))
        elif case.kind == "preference" and case.family == "trl-reward":
            report.check(f"RewardTrainer {case.name}", lambda own=case: _reward(own, ALWAYS))
            if written:
                report.check(f"RewardTrainer without end token {case.name}", lambda own=case: _reward(own, BY_FILE))
        elif case.kind == "unpaired" and case.family.startswith("trl"):
            report.check(f"KTOTrainer {case.name}", lambda own=case: _kto(own, StepKTOTrainer, AS_TREE))
            if bare:
                report.check(f"KTOTrainer alone {case.name}", lambda own=case: _kto(own, KTOTrainer, ALWAYS))
            if written:
                report.check(f"KTOTrainer without end token {case.name}", lambda own=case: _kto(own, KTOTrainer, BY_FILE))


def _dpo(case: Case, trainer_class: type[DPOTrainer], ends: str, template: str | None = None) -> tuple[int, str]:
    for cut in toy.CUTS if case.way == "plain" and template is None else ("qwen",):
        rows = case.load()
        tokenizer = toy.tokenizer_of(texts_of(case), cut)
        tokenizer.chat_template = template or tokenizer.chat_template
        model = toy.model_of(tokenizer)
        before = saved(model, tokenizer)
        with warnings_of(*LOGGERS) as caught:
            with end_token_put_aside(tokenizer, ends == BY_FILE):
                trainer = trainer_class(
                    model=model,
                    ref_model=toy.model_of(tokenizer),
                    args=DPOConfig(**settings(max_length=4096)),
                    train_dataset=rows,
                    processing_class=tokenizer,
                )
            batches = _watch(trainer)
            quiet(trainer).train()
        expect_silence(caught)
        expect_saved(trainer, before)
        trained = trainer.train_dataset
        expect_equal(len(trained), case.rows, "the number of rows that are trained on")
        wanted = set()
        for row in trained:
            expected = case.of(row)
            for side in ("chosen", "rejected"):
                prompt, completion = row["prompt_ids"], row[f"{side}_ids"]
                expect_row(case, tokenizer, (prompt, completion), (expected, side, ends))
                wanted.add((tuple(prompt), tuple(completion)))
        for batch in batches:
            for ids, seen, learnt in zip(
                batch["input_ids"], batch["attention_mask"], batch["completion_mask"], strict=True
            ):
                pair = tuple(ids[(seen - learnt).bool()].tolist()), tuple(ids[learnt.bool()].tolist())
                expect(pair in wanted, f"a batch holds {tokenizer.decode(ids)!r}, which is no row")
        figure = expect_finite(trainer.state.log_history)
    return case.rows, f"{figure}, {ends}"


def _kto(case: Case, trainer_class: type[KTOTrainer], ends: str) -> tuple[int, str]:
    rows = case.load()
    tokenizer = toy.tokenizer_of(texts_of(case))
    model = toy.model_of(tokenizer)
    before = saved(model, tokenizer)
    with warnings_of(*LOGGERS) as caught:
        with end_token_put_aside(tokenizer, ends == BY_FILE):
            trainer = trainer_class(
                model=model,
                ref_model=toy.model_of(tokenizer),
                args=KTOConfig(**settings(max_length=4096)),
                train_dataset=rows,
                processing_class=tokenizer,
            )
        quiet(trainer).train()
    expect_silence(caught)
    expect_saved(trainer, before)
    trained = trainer.train_dataset
    expect_equal(len(trained), case.rows, "the number of rows that are trained on")
    completions = {tuple(row["completion_ids"]) for row in trained}
    for row in trained:
        expected = case.of(row)
        expect_equal(row["label"], expected["label"], "the label")
        expect_row(case, tokenizer, (row["prompt_ids"], row["completion_ids"]), (expected, "completion", ends))
        expect(tuple(row["KL_completion_ids"]) in completions, "the KL term is estimated from no completion")
    return case.rows, f"{expect_finite(trainer.state.log_history)}, {ends}"


def _reward(case: Case, ends: str) -> tuple[int, str]:
    rows = case.load()
    tokenizer = toy.tokenizer_of(texts_of(case))
    model = toy.model_of(tokenizer, "reward")
    before = saved(model, tokenizer)
    with warnings_of(*LOGGERS) as caught:
        with end_token_put_aside(tokenizer, ends == BY_FILE):
            trainer = RewardTrainer(
                model=model,
                args=RewardConfig(**settings(max_length=4096)),
                train_dataset=rows,
                processing_class=tokenizer,
            )
        batches = _watch(trainer)
        quiet(trainer).train()
    expect_silence(caught)
    expect_saved(trainer, before)
    trained = trainer.train_dataset
    expect_equal(len(trained), case.rows, "the number of rows that are trained on")
    for row in trained:
        expected = case.of(row)
        expect(abs(row["margin"] - expected["margin"]) < 1e-9, f"the margin is {row['margin']}")
        for side in ("chosen", "rejected"):
            end = toy.END if ends == ALWAYS or expected["ends"][side] else ""
            whole = case.prompt_text(expected) + expected["texts"][side] + end
            expect_equal(tokenizer.decode(row[f"{side}_ids"]), toy.BEGIN + whole, side)
    margins = {round(row["margin"], 5) for row in trained}
    for batch in batches:
        seen = {round(margin, 5) for margin in batch["margin"].tolist()}
        expect(seen <= margins, f"a batch has the margins {seen}")
    return case.rows, f"{expect_finite(trainer.state.log_history)}, margins in {len(batches)} batches, {ends}"


def expect_row(
    case: Case, tokenizer: Any, ids: tuple[list[int], list[int]], wanted: tuple[Expected, str, str]
) -> None:
    """The tokens of a prompt and a completion are the texts, or the turns, of the tree."""
    prompt, completion = map(tokenizer.decode, ids)
    expected, side, ends = wanted
    if case.family in ("trl-conversational", "trl-tools"):
        tools = expected["tools"] if case.family == "trl-tools" else []
        turns, completed = whole_turns(expected["prompt"], expected["sides"][side])
        chat.expect_prompt(prompt, turns, tools)
        chat.expect_completion(completion, completed)
        return
    expect_equal(prompt, toy.BEGIN + case.prompt_text(expected), "the prompt")
    if not side:
        return
    end = toy.END if ends == ALWAYS or expected["ends"][side] else ""
    expect_equal(completion, expected["texts"][side] + end, side)


def whole_turns(prompt: list[Turn], completion: list[Turn]) -> tuple[list[Turn], list[Turn]]:
    """A turn that the prompt has begun belongs to the completion, where both are whole turns."""
    if prompt[-1]["role"] != "assistant":
        return prompt, completion
    begun = prompt[-1]["content"]
    first = [{**turn, "content": f"{begun} {turn['content']}"} for turn in completion[:1]]
    return prompt[:-1], [*first, *completion[1:]]


def texts_of(case: Case) -> list[str]:
    """What the tokenizer learns from: the words of the dataset itself."""
    return [
        text
        for expected in case.by_key.values()
        for text in [expected["text"], *expected["texts"].values(), *(turn["content"] for turn in expected["prompt"])]
    ]


def _watch(trainer: Any) -> list[dict[str, Any]]:
    """The batches that a trainer trains on, as they come."""
    batches: list[dict[str, Any]] = []
    step: Callable = trainer.training_step

    def training_step(model: Any, inputs: dict[str, Any], *more: Any) -> Any:
        batches.append({name: value.clone() if hasattr(value, "clone") else value for name, value in inputs.items()})
        return step(model, inputs, *more)

    trainer.training_step = training_step
    return batches
