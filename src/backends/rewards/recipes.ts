import { expectation } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Solution } from '../../contracts/reward-model.ts';
import type { TextRecipe, TurnsRecipe } from './recipe.ts';

const chatMarks = ['<|im_start|>', '<|im_end|>'];

/**
 * Qwen2.5-Math-PRM: a mark `<extra_0>` after each step, and at each mark the probabilities of a wrong and a right step.
 * vLLM returns one row per mark if its pooling type is `STEP` with the step tag 151651.
 *
 * @see Zhang et al., "The Lessons of Developing Process Reward Models in Mathematical Reasoning", 2025.
 */
const qwenMathPrm: TextRecipe = {
  kind: 'text',
  name: 'qwen-math-prm',
  incremental: true,
  marks: ['<extra_0>', ...chatMarks],
  opening: (prompt) =>
    [
      '<|im_start|>system\nPlease reason step by step, and put your final answer within \\boxed{}.<|im_end|>\n',
      `<|im_start|>user\n${prompt}<|im_end|>\n<|im_start|>assistant\n`,
    ].join(''),
  step: (text) => `${text}<extra_0>`,
  closing: '<|im_end|>',
  columns: 2,
  good: 1,
};

/**
 * Math-Shepherd: `ки` after each step, followed by the token `+` or `-`. vLLM returns one row per mark if its pooling
 * type is `STEP` with the step tag 12902 and the returned tokens `[648, 387]`, in this order.
 *
 * @see Wang et al., "Math-Shepherd: Verify and Reinforce LLMs Step-by-step without Human Annotations", 2023.
 */
const mathShepherd: TextRecipe = {
  kind: 'text',
  name: 'math-shepherd',
  incremental: true,
  marks: ['ки'],
  opening: (prompt) => prompt,
  // It was trained on numbered steps.
  step: (text, place) => {
    const numbered = /^Step \d+:/.test(text) ? text : `Step ${place + 1}: ${text}`;
    return `${place === 0 ? ' ' : '\n'}${numbered} ки`;
  },
  columns: 2,
  good: 0,
  labels: { good: '+', bad: '-', ids: [648, 387] },
};

/**
 * RLHFlow's Llama-3.1-8B-PRM: a conversation with one step per user turn, the first after the question, and the
 * assistant answers `+` or `-`. It is for `logprobReward`.
 *
 * @see Xiong et al., "An Implementation of Generative PRM", 2024.
 */
const rlhflow: TurnsRecipe = {
  kind: 'turns',
  name: 'rlhflow',
  incremental: true,
  marks: ['<|eot_id|>', '<|start_header_id|>'],
  turns: ({ prompt, steps }: Solution, place) =>
    steps.slice(0, place + 1).flatMap((step, index) => [
      { role: 'user' as const, content: index === 0 ? `${prompt} ${step}` : step },
      // Earlier steps count as good, as in its training.
      ...(index < place ? [{ role: 'assistant' as const, content: '+' }] : []),
    ]),
  labels: { good: '+', bad: '-', ids: [10, 12] },
};

/**
 * Skywork-o1-Open-PRM: a line break after each step, and a value there whose sigmoid is the score. vLLM must return the
 * values of all tokens.
 *
 * @see He et al., "Skywork-o1 Open Series", 2024.
 */
const skyworkPrm: TextRecipe = {
  kind: 'text',
  name: 'skywork-prm',
  incremental: true,
  marks: ['<|endoftext|>', ...chatMarks],
  opening: (prompt) => `<|endoftext|>${prompt}\n`,
  step: (text) => `${text}\n`,
  columns: 1,
  good: 0,
  rows: 'tokens',
  activation: 'logits',
};

/**
 * The PRM of OpenR: a space and five line breaks after each step, followed by the token ` +` or ` -`. vLLM returns one
 * row per mark if its pooling type is `STEP` with the step tag 76325 and the returned tokens `[488, 481]`, in this
 * order.
 *
 * @see Wang et al., "OpenR: An Open Source Framework for Advanced Reasoning with Large Language Models", 2024.
 */
const openr: TextRecipe = {
  kind: 'text',
  name: 'openr',
  incremental: true,
  marks: ['\n\n\n\n\n'],
  opening: (prompt) => prompt,
  // A line break at the end of a step would become part of the mark.
  step: (text) => ` ${text.trimEnd()} \n\n\n\n\n`,
  columns: 2,
  good: 0,
  labels: { good: ' +', bad: ' -', ids: [488, 481] },
};

/** The template of a conversation with a question and its answer. */
type ClassifierTemplate = Pick<TextRecipe, 'closing' | 'marks' | 'opening'>;

// The start token is left out, because the server adds it.
const templates: Readonly<Record<'chatml' | 'llama3', ClassifierTemplate>> = {
  chatml: {
    opening: (prompt) => `<|im_start|>user\n${prompt}<|im_end|>\n<|im_start|>assistant\n`,
    closing: '<|im_end|>\n',
    marks: chatMarks,
  },
  llama3: {
    opening: (prompt) => `${llamaTurn('user')}${prompt}<|eot_id|>${llamaTurn('assistant')}`,
    closing: '<|eot_id|>',
    marks: ['<|eot_id|>', '<|start_header_id|>', '<|end_header_id|>'],
  },
};

function llamaTurn(role: string): string {
  return `<|start_header_id|>${role}<|end_header_id|>\n\n`;
}

const sequenceClassifier: (typeof recipes)['sequenceClassifier'] = (options = {}) => {
  expectOptions('sequenceClassifier', options, 'template joint');
  const { template = 'chatml', joint = '\n' } = options;
  const { opening, closing, marks } = typeof template === 'string' ? named(template) : template;
  return {
    kind: 'text',
    name: 'sequence-classifier',
    scores: 'solution',
    marks,
    opening,
    step: (text, place) => (place === 0 ? text : `${joint}${text}`),
    ...(closing !== undefined && { closing }),
    columns: 1,
    good: 0,
  };
};

function named(template: string): ClassifierTemplate {
  if (Object.hasOwn(templates, template)) return templates[template as 'chatml' | 'llama3'];
  throw expectation('template', "'chatml', 'llama3' or a template", template);
}

/** The recipes of published reward models. */
export const recipes: Readonly<
  Record<'mathShepherd' | 'openr' | 'qwenMathPrm' | 'skyworkPrm', TextRecipe>
> & {
  /** For RLHFlow's Llama-3.1-8B-PRM: a conversation, for `logprobReward`. */
  readonly rlhflow: TurnsRecipe;
  /**
   * An outcome reward model that reads a question and its complete answer, such as Skywork-Reward: one value, the logit
   * of being good or its sigmoid.
   *
   * @see Liu et al., "Skywork-Reward: Bag of Tricks for Reward Modeling in LLMs", 2024.
   * @throws EspalierError `usage` if `template` is invalid.
   */
  readonly sequenceClassifier: (options?: {
    /**
     * The chat template of the model: Qwen's, Llama 3's, or your own, which gives the text around the question, the
     * text after the answer, and the texts that mark the end of a turn.
     *
     * @defaultValue `'chatml'`
     */
    readonly template?: 'chatml' | 'llama3' | Pick<TextRecipe, 'closing' | 'marks' | 'opening'>;
    /** The text between two steps of the answer. @defaultValue a line break */
    readonly joint?: string;
  }) => TextRecipe;
} = {
  qwenMathPrm,
  mathShepherd,
  rlhflow,
  skyworkPrm,
  openr,
  sequenceClassifier,
};
