/** How a trainer of TRL is started on text. */
export function trainerUsage(trainer: 'DPO' | 'KTO' | 'Reward' | 'SFT'): string {
  return `${start(trainer)}

TRL puts the end token behind every completion that is text, also behind a step that is not the last one. So that
a model does not learn to stop after each step, take the end token away before the trainer starts:

\`\`\`python
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
end, tokenizer.eos_token = tokenizer.eos_token, ""  # every text ends with "", so that nothing is added
…  # train as above
tokenizer.eos_token = end  # before you save, or the saved tokenizer has none
\`\`\`

and write the files with \`endToken\`, which puts the end token where the tree says that nothing follows.
Prompts longer than \`max_length\` (1024 tokens unless set) are dropped without a word.`;
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
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

def reward(completions, answer, **columns):  # each column comes as a list
    return [float(right in str(said)) for said, right in zip(completions, answer)]

dataset = load_dataset("<this dataset>", "<configuration>", split="train")
GRPOTrainer(model=model, reward_funcs=reward, args=GRPOConfig(), train_dataset=dataset).train()
\`\`\``;

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
