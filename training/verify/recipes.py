"""Trainers of TRL for rows whose completions are single steps. Copy this file next to your training script.

TRL puts the end token behind every completion that is text. Behind a step after which more follows, that teaches
a model to stop there. The datasets say where nothing follows, in the columns `chosen_ends` and `rejected_ends`
of pairs and `ends` of single completions; the trainers below take the end token away everywhere else:

    from recipes import StepDPOTrainer

    trainer = StepDPOTrainer(model=model, args=args, train_dataset=dataset, processing_class=tokenizer)

Conversations are left as they are: there a completion is a whole turn, and the chat template ends it.
"""

from typing import Any

from datasets import Dataset, IterableDataset
from trl import DPOTrainer, KTOConfig, KTOTrainer, SFTTrainer, is_conversational

Rows = Dataset | IterableDataset


class _StepRows:
    """Takes the end token away from completions after which something follows."""

    #: The column that says whether a completion ends, by the column of its tokens.
    ends: dict[str, str]

    def _prepare_dataset(self, dataset: Rows, *args: Any, **kwargs: Any) -> Rows:
        prepared = super()._prepare_dataset(dataset, *args, **kwargs)
        if is_conversational(next(iter(dataset))):
            return prepared
        return drop_end_tokens(prepared, self.ends, self._tokenizer.eos_token_id)


class StepDPOTrainer(_StepRows, DPOTrainer):
    """DPO on pairs of steps."""

    ends = {"chosen_ids": "chosen_ends", "rejected_ids": "rejected_ends"}


class StepSFTTrainer(_StepRows, SFTTrainer):
    """Supervised training on single steps, each row by itself: without `packing`."""

    ends = {"input_ids": "ends", "labels": "ends"}


class StepKTOTrainer(_StepRows, KTOTrainer):
    """KTO on single steps. The completions that estimate the KL term are those of other rows, with their ends."""

    ends = {"completion_ids": "ends"}

    def _prepare_dataset(self, dataset: Rows, processing_class: Any, args: KTOConfig, dataset_name: str) -> Rows:
        prepared = super()._prepare_dataset(dataset, processing_class, args, dataset_name)
        if not self.calculate_KL:
            return prepared
        size = args.per_device_train_batch_size
        return prepared.map(next_completions, batched=True, batch_size=size)


def drop_end_tokens(dataset: Rows, ends: dict[str, str], eos: int) -> Rows:
    """Takes one end token from the end of each column of tokens whose row says that it does not end."""
    columns = columns_of(dataset)
    missing = sorted({flag for flag in ends.values() if flag not in columns})
    if missing:
        raise ValueError(f"Expected the columns {', '.join(missing)}: they say which completions end.")

    def drop(row: dict[str, Any]) -> dict[str, Any]:
        return {
            ids: row[ids][:-1] if not row[flag] and row[ids][-1] == eos else row[ids] for ids, flag in ends.items()
        }

    return dataset.map(drop)


def next_completions(batch: dict[str, list]) -> dict[str, list]:
    """Pairs each prompt of a batch with the completion of the row before, as TRL does."""
    completions = batch["completion_ids"]
    return {"KL_completion_ids": [completions[-1], *completions[:-1]]}


def columns_of(dataset: Rows) -> list[str]:
    """The columns of a dataset, also of one that is streamed."""
    return list(dataset.column_names or next(iter(dataset)))
