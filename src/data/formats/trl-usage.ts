import type { FormatOptions } from './format.ts';

/** How a trainer of TRL is started on text, which may hold the end token where the tree ends. */
export function trainerUsage(
  trainer: 'DPO' | 'KTO' | 'Reward' | 'SFT',
  { endToken = '' }: FormatOptions,
): string {
  if (endToken !== '') return startOnEnds(trainer);
  // A reward is read at the end token, which then follows both sides.
  return [start(trainer), ...(trainer === 'Reward' ? [] : [withoutEnd]), dropped].join('\n\n');
}

const dropped =
  'Rows whose prompt is longer than `max_length` (1024 tokens unless set) are dropped without a word.';

const withoutEnd = `TRL puts the end token behind every completion that is text, also behind a step after which more follows: a model so
learns to stop after each step. Write the files with the end token of the model (\`--end-token\`, in a program
\`endToken\`), and this card tells how they are trained on, or take the trainers of the guide on training, which take it
away by the columns that say what ends.`;

function startOnEnds(trainer: string): string {
  return `\`\`\`python
from datasets import load_dataset
from trl import ${trainer}Config, ${trainer}Trainer

dataset = load_dataset("<this dataset>", "<configuration>", split="train")
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
end, tokenizer.eos_token = tokenizer.eos_token, ""  # every text ends with "", so that none is added
trainer = ${trainer}Trainer(
    model=model, args=${trainer}Config(), train_dataset=dataset, processing_class=tokenizer
)
tokenizer.eos_token = end  # before it trains: training writes the ids of the tokenizer into the model
trainer.train()
\`\`\`

The files hold the end token where the tree says that nothing follows, and nowhere else. ${dropped}`;
}

/** How a trainer of TRL is started on conversations. */
export function conversationUsage(trainer: 'DPO' | 'KTO' | 'SFT'): string {
  return `${start(trainer)}

Each completion is a whole turn: the chat template ends it.`;
}

/** How a process reward model is trained on steps. */
export const stepwiseUsage: string = `\`\`\`python
from datasets import load_dataset
from trl.experimental.prm import PRMConfig, PRMTrainer  # TRL up to 1.13: later versions have no such trainer

dataset = load_dataset("<this dataset>", "<configuration>", split="train")
config = PRMConfig(step_separator=dataset[0]["delimiter"])
PRMTrainer(model=model, args=config, train_dataset=dataset, processing_class=tokenizer).train()
\`\`\``;

/** How prompts are trained on by reinforcement. */
export const grpoUsage: string = `\`\`\`python
import re
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

def said(text):  # the last number of the last line, else that line
    line = (text.strip().splitlines() or [""])[-1].strip()
    numbers = re.findall(r"-?\\d+(?:[.,/]\\d+)*", line)
    return (numbers[-1] if numbers else line).replace(",", "").lower()

def reward(completions, answer, **columns):  # each column comes as a list
    texts = [each if isinstance(each, str) else each[-1]["content"] for each in completions]
    return [float(said(right) != "" and said(text) == said(right)) for text, right in zip(texts, answer)]

dataset = load_dataset("<this dataset>", "<configuration>", split="train")
GRPOTrainer(model=model, reward_funcs=reward, args=GRPOConfig(), train_dataset=dataset).train()
\`\`\`

The reward compares the last number of the last line. Where answers are of another kind, compare what the task asks for.`;

/** How rollouts are trained on: they are complete, so that nothing samples or rewards them again. */
export const rolloutUsage: string = `\`\`\`python
import json
from datasets import load_dataset

dataset = load_dataset("<this dataset>", "<configuration>", split="train")
for row in dataset:
    advantages = json.loads(row["advantages"])  # by estimator, one of the whole path
    step_advantages = json.loads(row["step_advantages"])  # by estimator, one of each of row["steps"]
\`\`\`

The paths are complete, with their rewards: no trainer of TRL reads the advantages, and \`GRPOTrainer\`, which samples
its own completions, is for rows of the rule \`prompts\`. Weigh your own loss by them: the log-probability of each
token of a completion times the advantage of its path or step. \`SFTTrainer\` trains on \`prompt\` and \`completion\`
without them: keep the rows with a high \`reward\` for it.`;

function start(trainer: string): string {
  return `\`\`\`python
from datasets import load_dataset
from trl import ${trainer}Config, ${trainer}Trainer

dataset = load_dataset("<this dataset>", "<configuration>", split="train")
${trainer}Trainer(
    model=model, args=${trainer}Config(), train_dataset=dataset, processing_class=tokenizer
).train()
\`\`\``;
}
