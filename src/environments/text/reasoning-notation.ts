import type { Notation, Parsed } from '../../contracts/environment.ts';
import type { Message } from '../../contracts/language-model.ts';
import { inPieces } from '../../prompting/prompt-parts.ts';
import { jsonStep, readJsonStep, stepSchema } from './json-step.ts';
import type { ReasoningState } from './reasoning-state.ts';
import { lineBreak, readStep } from './step-text.ts';

/** The common rules of all three notations. */
export interface NotationRules {
  readonly system: string | undefined;
  readonly delimiter: string;
  readonly extract: (step: string) => string | undefined;
  readonly isEqual: (left: string, right: string) => boolean;
}

const task = [
  'Solve the problem below step by step. A step does one thing: it recalls a fact, sets up an equation, works',
  'something out or checks a result. Steps are numbered',
].join('\n');
const textAnswer =
  'End the step that reaches the final answer with the words: The answer is <answer>.';
const jsonAnswer = [
  'Write a step as JSON: {"step": "<text>", "answer": null}. In the step that reaches the final answer, put the',
  'answer into "answer", as short as it can be.',
].join('\n');

/** The notations of one environment. */
export function reasoningNotations(
  rules: NotationRules,
): Readonly<Record<'continued' | 'json' | 'restated', Notation<ReasoningState, string>>> {
  const { delimiter } = rules;
  const asText: Pick<Notation<ReasoningState, string>, 'format' | 'parse' | 'delimiter'> = {
    format: (step) => step,
    parse: (text, { steps }) => readStep(text, delimiter, steps.length + 1),
    delimiter,
  };
  return {
    continued: { prompt: (state) => continuedPrompt(rules, state), ...asText },
    restated: {
      prompt: (state) =>
        restatedPrompt(rules, state, {
          instructions: textAnswer,
          request: `Write step ${state.steps.length + 1}, and nothing else.`,
        }),
      ...asText,
    },
    json: {
      prompt: (state) =>
        restatedPrompt(rules, state, {
          instructions: jsonAnswer,
          request: `Write step ${state.steps.length + 1} as JSON, and nothing else.`,
        }),
      format: (step) => jsonStep(step, rules.extract(step)),
      parse: (text, state) => parseJson(rules, text, state),
      schema: stepSchema,
    },
  };
}

function parseJson(
  { delimiter, extract, isEqual }: NotationRules,
  text: string,
  { steps }: ReasoningState,
): Parsed<string> {
  const written = readJsonStep(text, delimiter);
  if ('failure' in written) return written;
  const { answer } = written;
  if (written.step === '' && answer === undefined) {
    return { failure: { kind: 'empty', message: 'Expected a step, got an empty one.' } };
  }
  const step =
    written.step === '' ? { action: '' } : readStep(written.step, delimiter, steps.length + 1);
  if ('failure' in step || answer === undefined) return step;
  return withAnswer(step.action, answer, { delimiter, extract, isEqual });
}

/** A step with the answer given beside it. A step that states another answer contradicts itself. */
function withAnswer(
  step: string,
  answer: string,
  { delimiter, extract, isEqual }: Omit<NotationRules, 'system'>,
): Parsed<string> {
  const stated = extract(step);
  if (stated !== undefined) {
    if (isEqual(stated, answer)) return { action: step };
    const message = `Expected one answer, got \`${stated}\` in the step and \`${answer}\` beside it.`;
    return { failure: { kind: 'parse', message } };
  }
  const between = step === '' ? '' : lineBreak(delimiter);
  for (const closing of [`The answer is ${answer}.`, `The answer is \\boxed{${answer}}.`]) {
    const whole = step + between + closing;
    const found = extract(whole);
    if (found !== undefined && isEqual(found, answer)) return { action: whole };
  }
  const message = `Expected a short answer, got \`${answer.slice(0, 60)}\`.`;
  return { failure: { kind: 'parse', message } };
}

// The parts that change least come first, so that the prompts of a search share a prefix as long as possible.
function continuedPrompt(rules: NotationRules, state: ReasoningState): readonly Message[] {
  const { question, steps, answer } = state;
  const content = [...introduction(rules, textAnswer), question].join('\n');
  // The model continues after a label and not after a delimiter, because servers cut trailing white space.
  const next = answer === undefined ? [`Step ${steps.length + 1}:`] : [];
  const written = [...numbered(steps), ...next].join(rules.delimiter);
  return [...system(rules), { role: 'user', content }, { role: 'assistant', content: written }];
}

function restatedPrompt(
  rules: NotationRules,
  { question, steps, answer }: ReasoningState,
  { instructions, request }: { readonly instructions: string; readonly request: string },
): readonly Message[] {
  const pieces = [
    [...introduction(rules, instructions), question].join('\n'),
    ...numbered(steps).map((step, place) =>
      place === 0 ? `\n\nSteps so far:\n\n${step}` : rules.delimiter + step,
    ),
  ];
  // After the answer no step is requested; a judge adds its own request.
  const tail = answer === undefined ? `\n\n${request}` : '';
  return [...system(rules), { role: 'user', ...inPieces(pieces, tail) }];
}

function introduction({ delimiter }: NotationRules, instructions: string): readonly string[] {
  return [`${task} and ${partedBy(delimiter)}.`, instructions, '', 'Problem:'];
}

function partedBy(delimiter: string): string {
  if (delimiter === '\n\n') return 'parted by an empty line';
  return delimiter === '\n' ? 'written one a line' : `parted by ${JSON.stringify(delimiter)}`;
}

function numbered(steps: readonly string[]): readonly string[] {
  return steps.map((step, place) => `Step ${place + 1}: ${step}`);
}

function system({ system: content }: NotationRules): readonly Message[] {
  return content === undefined ? [] : [{ role: 'system', content }];
}
