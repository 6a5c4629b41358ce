import type { Message, Random } from 'espalier';
import { fromModelPrompts, repairTurns } from '../../../src/policies/from-model/prompts.ts';
import { askBehind } from '../../../src/prompting/prompt-parts.ts';
import { scaleForm } from '../../../src/values/judge/scale.ts';
import { arithmetic, toolCall } from './errands.ts';
import {
  answered,
  type Example,
  labels,
  type Position,
  pick,
  type Question,
  stepPrompt,
} from './example.ts';
import type { Family } from './families.ts';
import { mistake } from './mistakes.ts';

/** How often a step that is learnt is a good one, where there is a good one; else it is any legal one. */
export const goodShare = 0.75;

/** What the corpus is made of: examples a thousand. */
export const mixture = {
  'game24.step': 400,
  'game24.state': 230,
  'game24.action': 40,
  'game24.reason': 40,
  'game24.repair': 20,
  'countdown.step': 60,
  'countdown.state': 30,
  'blocksworld.step': 80,
  'blocksworld.state': 20,
  'blocksworld.action': 10,
  'blocksworld.repair': 10,
  arithmetic: 35,
  tool: 25,
} as const;

/** The name of one kind of line. */
export type Kind = keyof typeof mixture;

/** All families by the name of their puzzle. */
export type Families = Readonly<Record<string, Family>>;

/** One line of a kind. */
export function line(random: Random, families: Families, kind: Kind): Question {
  if (kind === 'arithmetic') return arithmetic(random);
  if (kind === 'tool') return toolCall(random);
  const [puzzle = '', part = ''] = kind.split('.');
  const family = families[puzzle];
  if (family === undefined) throw new Error(`No puzzle ${puzzle}.`);
  switch (part) {
    case 'step':
      return step(random, kind, family.step());
    case 'state':
      return judgement(kind, family, family.judged(pick(random, labels)));
    case 'action':
      return judgementOfStep(random, kind, family);
    case 'reason':
      return random.next() < 0.5
        ? reasonOf(random, kind, family.judged(pick(random, labels)))
        : critique(random, kind, family);
    default:
      return repair(random, kind, family.step());
  }
}

function step(random: Random, task: Kind, position: Position<unknown, unknown>): Question {
  const { legal, good } = position.outlook;
  const answer = goodOrLegal(random, position);
  return { ...answered(task, stepPrompt(position), answer), legal, good };
}

function goodOrLegal(random: Random, { outlook }: Position<unknown, unknown>): string {
  const { legal, good } = outlook;
  return pick(random, good.length > 0 && random.next() < goodShare ? good : legal);
}

/** How the judge asks about a position, or a step there; the labels are the words of its usual scale. */
function judgePrompt(
  position: Position<unknown, unknown>,
  { step, reason = false }: { readonly step?: string; readonly reason?: boolean } = {},
): readonly Message[] {
  return askBehind(stepPrompt(position), scaleForm({ reason }, false).request(step));
}

function judgement(task: Kind, family: Family, position: Position<unknown, unknown>): Question {
  const { label } = position.outlook;
  return {
    ...answered(task, judgePrompt(position), label),
    label,
    domain: family.name,
  };
}

/** A step and what is left after it. Good steps are as frequent as others. */
function stepToJudge(random: Random, family: Family) {
  const position = family.step();
  const { legal, good } = position.outlook;
  const step = pick(random, good.length > 0 && random.next() < 0.6 ? good : legal);
  const next = family.after(position, step);
  const label =
    next === undefined ? (good.includes(step) ? 'sure' : 'impossible') : next.outlook.label;
  return { position, step, next, label } as const;
}

function judgementOfStep(random: Random, task: Kind, family: Family): Question {
  const { position, step, label } = stepToJudge(random, family);
  const prompt = judgePrompt(position, { step });
  return { ...answered(task, prompt, label), label, domain: family.name };
}

/** Why a state is as it is: the next good step, or that there is none. */
function reasonOf(random: Random, task: Kind, position: Position<unknown, unknown>): Question {
  const prompt = judgePrompt(position, { reason: true });
  const answer = withReason(random, position);
  return answered(task, prompt, answer);
}

function withReason(random: Random, { outlook }: Position<unknown, unknown>): string {
  const { good, label } = outlook;
  const reason =
    good.length > 0 ? `the next step is ${pick(random, good)}.` : 'no step leads there.';
  return `${label}: ${reason}`;
}

/** A step is judged with its reason: what is wrong with it, or how it goes on. */
function critique(random: Random, task: Kind, family: Family): Question {
  if (random.next() < 0.5) {
    const position = family.step();
    const error = mistake(random, position);
    if (error !== undefined) {
      const prompt = judgePrompt(position, { step: error.wrong, reason: true });
      return {
        ...answered(task, prompt, `impossible: ${error.failure.message}`),
        answer: `impossible: ${error.failure.message}`,
      };
    }
  }
  const { position, step, next, label } = stepToJudge(random, family);
  const prompt = judgePrompt(position, { step, reason: true });
  const end = label === 'sure' ? 'sure: it reaches the goal.' : 'impossible: it is a dead end.';
  return answered(task, prompt, next === undefined ? end : withReason(random, next));
}

/** An answer that is no step, what is wrong with it, and a step. */
function repair(
  random: Random,
  task: Kind,
  position: Position<unknown, unknown>,
): Example & Question {
  const { legal, good } = position.outlook;
  const error = mistake(random, position);
  if (error === undefined) return step(random, task, position);
  const answer = goodOrLegal(random, position);
  const turns = repairTurns({ text: error.wrong }, error.failure, fromModelPrompts.texts.repair);
  return {
    ...answered(task, [...stepPrompt(position), ...turns], answer),
    legal,
    good,
  };
}
