import {
  expectArray,
  expectInteger,
  expectMethods,
  expectOneOf,
  expectText,
} from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { Memory, Recollection, Reflection } from '../contracts/memory.ts';
import type { PromptPart } from '../contracts/prompt-part.ts';
import { fill, type PromptSet, promptsOf, type Texts, withTexts } from '../prompting/prompts.ts';
import { type SituationOptions, situationOf } from './situation.ts';

/** Options of {@link lessons}. */
export interface LessonsOptions<State = any> extends SituationOptions<State> {
  /** The memory that holds the lessons. */
  readonly memory: Memory;
  /** What they are for: the policy or the value. */
  readonly kind: Reflection['kind'];
  /** The problem, as text. @defaultValue the name of the environment */
  readonly task?: string;
  /**
   * The maximum tokens of task, action and lesson each, counted as four characters; texts are cut between words. R-MCTS
   * uses 128. An integer from 1 up.
   *
   * @defaultValue 128
   */
  readonly maxTokens?: number;
  /** The number of steps from which a path counts as long: an integer from 0 up. R-MCTS uses 5. @defaultValue 5 */
  readonly longPath?: number;
  /**
   * Texts to replace: `intro` precedes the lessons, `introOfLongPath` once the path is long; `item`, with the slots
   * `{number}`, `{task}`, `{action}` and `{lesson}`, is one lesson.
   */
  readonly prompts?: Texts<'intro' | 'introOfLongPath' | 'item'>;
  /**
   * Marks for trees and training data that use these lessons, such as `oracle-guided` if they were written with known
   * answers.
   *
   * @defaultValue none
   */
  readonly stamps?: readonly string[];
}

const item = [
  'Lesson {number}',
  '- objective: {task}',
  '- attempted step: {action}',
  '- lesson: {lesson}',
].join('\n');

const sets: Readonly<Record<Reflection['kind'], PromptSet<'intro' | 'introOfLongPath' | 'item'>>> =
  {
    policy: {
      name: 'lessons-policy',
      version: 1,
      texts: {
        intro:
          'Lessons from earlier attempts at similar objectives. They may apply only in part; use what fits the present situation.',
        introOfLongPath:
          'Many steps have been taken already. Before you go on, compare the way so far with these lessons from earlier attempts at similar objectives, and leave it where a lesson speaks against it.',
        item,
      },
    },
    value: {
      name: 'lessons-value',
      version: 1,
      texts: {
        intro:
          'Judgements of similar situations were wrong before. What was learnt from them; use what fits the present situation.',
        introOfLongPath:
          'Many steps have been taken already, and judgements of similar situations were wrong before. Check with these lessons whether the way so far still leads to the objective.',
        item,
      },
    },
  };

/**
 * Adds the lessons relevant to a node to the prompts of policies (`kind: 'policy'`) or judges (`kind: 'value'`). Empty
 * if none is relevant; if the recall fails, so does the proposal or judgement.
 *
 * For a node without a state (an action judged before it is taken), the parent's state is used.
 *
 * @see Yu et al., "ExACT: Teaching AI Agents to Explore with Reflective-MCTS and Exploratory Learning", 2024.
 */
export function lessons<State = any, Action = any>(
  options: LessonsOptions<State>,
): PromptPart<State, Action> {
  expectOptions('lessons', options, 'memory kind task maxTokens longPath prompts stamps situation');
  const { memory, kind, task: named, maxTokens = 128, longPath = 5, stamps = [] } = options;
  expectMethods('memory', memory, ['recall']);
  expectOneOf('kind', kind, ['policy', 'value']);
  if (named !== undefined) expectText('task', named);
  expectInteger('maxTokens', maxTokens, { min: 1 });
  expectInteger('longPath', longPath, { min: 0 });
  expectArray('stamps', stamps);
  const prompts = withTexts(sets[kind], options.prompts);
  return {
    prompts: promptsOf(prompts),
    ...(stamps.length > 0 && { stamps }),
    ...(options.situation === undefined && { needsNotation: ['lessons'] }),
    async text(node, request) {
      const { context, environment } = request;
      const { task = environment.name } = options;
      const known = node.kind === 'proposed' ? node.parent : node;
      if (known.kind === 'proposed') return undefined;
      const situation = situationOf(options, request, known.state);
      const found = await memory.recall({ kind, task, situation }, context);
      if (found.length === 0) return undefined;
      const { intro, introOfLongPath } = prompts.texts;
      const first = fill(node.depth >= longPath ? introOfLongPath : intro, {});
      const told = found.map((one, place) => tell(prompts.texts.item, one, { place, maxTokens }));
      return [first, ...told].join('\n\n');
    },
  };
}

function tell(
  text: string,
  { reflection: { task, action, lesson } }: Recollection,
  { place, maxTokens }: { readonly place: number; readonly maxTokens: number },
): string {
  const short = (long: string) => shortened(long, 4 * maxTokens);
  return fill(text, {
    number: place + 1,
    task: short(task),
    action: short(action),
    lesson: short(lesson),
  });
}

/** On one line, so that a lesson cannot look like a part of the prompt; cut between words if there are any. */
function shortened(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= most) return line;
  const cut = line.slice(0, Math.max(0, most - 1));
  const space = line[cut.length] === ' ' ? cut.length : cut.lastIndexOf(' ');
  return `${cut.slice(0, space > most / 2 ? space : cut.length).trimEnd()}…`;
}
