import { openaiCompatible } from '../../src/backends/index.ts';
import { EspalierError, ModelCallError } from '../../src/base/errors.ts';
import type { Completion } from '../../src/contracts/language-model.ts';
import {
  blocksworld,
  countdown,
  extractAnswer,
  gameOf24,
  isSameAnswer,
  reasoning,
  slidingTiles,
} from '../../src/environments/index.ts';
import { contrastive, inMemoryStore, memory } from '../../src/memory/index.ts';
import { fromModel, selfRefine, subQuestion } from '../../src/policies/index.ts';
import { plainContext, scriptedModel } from '../../src/testing/index.ts';
import { criticRanking, judge, pairwise, selfEval } from '../../src/values/index.ts';
import { notation as doors, path } from '../memory/paths.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, rootNode } from '../support/nodes.ts';
import { proposals, notation as words } from '../values/judge-fixtures.ts';

/** Reads a text that a model or a server wrote; throws, or gives a failure, where it makes nothing of it. */
export type Reader = (text: string) => unknown;

const task = reasoning({ question: 'How many?' });
const asked = task.reset().state;
const context = plainContext();
const evaluate = { environment: environmentOf(words), context, remaining: noSpend };
const propose = { ...evaluate, environment: task, count: 1, offset: 0 };

/** A model that answers everything with one text. */
function saying(answer: string | Completion, capabilities = {}) {
  return scriptedModel({ answer: () => answer, capabilities, usage: () => noUsage });
}
const noUsage = { inputTokens: 1, outputTokens: 1 };

/** The text in tokens of four characters, with their log-probabilities. */
function inTokens(text: string): Completion {
  const tokens = text.match(/[\s\S]{1,4}/g) ?? [];
  return { text, logprobs: tokens.map((token) => ({ token, logprob: -1, top: [] })) };
}

const four = gameOf24.environment({ numbers: [4, 6, 1, 1] });
const count = countdown.environment({ numbers: [4, 6, 1, 1], target: 24 });
const pddl =
  '(define (problem p) (:domain blocksworld-4ops) (:objects a b) (:init (handempty) (ontable a) (ontable b) (clear a) (clear b)) (:goal (on a b)))';
const blocks = blocksworld.environment(blocksworld.parse(pddl));
const tiles = slidingTiles.environment(slidingTiles.parse('1 2 3 / 4 5 6 / 7 0 8'));
const judged = [rootNode<string, string>('s')];
const shown = proposals('s', 'a', 'b');
const thinking = rootNode<typeof asked, string>(asked);

/** A server that answers everything with one body. */
function serving(body: string, status = 200) {
  return openaiCompatible({
    baseUrl: 'http://localhost:1/v1',
    model: 'm',
    preset: 'generic',
    retry: false,
    fetch: async () => new Response(body, { status }),
  });
}
const request = { messages: [{ role: 'user' as const, content: 'q' }] };
const call = { signal: new AbortController().signal, clock: context.clock };

const judging =
  (form: 'number' | 'yes-no' | 'codes' | 'criteria' | 'scale'): Reader =>
  (text) =>
    judge({ model: saying(text), form }).evaluate(judged, evaluate);

/** Who reads, and a text that it understands. */
export const readers: Readonly<Record<string, readonly [Reader, string]>> = {
  'steps of reasoning': [(text) => task.notation.parse(text, asked), 'Step 1: So.'],
  'steps as JSON': [
    (text) => task.notations.json.parse(JSON.stringify({ step: text }), asked),
    'Step 1: So.',
  ],
  'the key of a state': [(text) => task.key({ ...asked, steps: [text] }), 'a  b'],
  'final answers': [(text) => extractAnswer(text) ?? 'none', 'The answer is 4.'],
  'equal answers': [(text) => isSameAnswer(text, `${text}1`), '1/2'],
  'steps of the Game of 24': [
    (text) => four.notation.parse(text, four.reset().state),
    '4 * 6 = 24 (left: 1 1 24)',
  ],
  'steps of Countdown': [
    (text) => count.notation.parse(text, count.reset().state),
    '4 * 6 = 24 (left: 1 1 24)',
  ],
  'moves of blocks': [
    (text) => blocks.notation.parse(text, blocks.reset().state),
    'pick up the block a',
  ],
  'moves of tiles': [(text) => tiles.notation.parse(text, tiles.reset().state), 'right'],
  'boards of tiles': [(text) => slidingTiles.parse(text), '1 2 3 / 4 5 6 / 7 0 8'],
  PDDL: [(text) => blocksworld.parse(text), pddl],
  'the number of a judge': [judging('number'), 'So.\nScore: 7'],
  'the yes or no of a judge': [judging('yes-no'), 'Yes.'],
  'the code of a judge': [judging('codes'), '{"status": "C"}'],
  'the word of a judge': [judging('scale'), 'likely'],
  'the tokens of a judge': [
    (text) =>
      selfEval({
        model: saying(inTokens(text), { logprobs: true }),
        about: 'state',
      }).evaluate(judged, evaluate),
    'A',
  ],
  'the list of a critic': [
    (text) =>
      criticRanking({
        model: saying(JSON.stringify({ ranking: text })),
        by: 'list',
      }).evaluate(shown, evaluate),
    '[2 > 1]',
  ],
  'a choice in a field': [
    (text) =>
      pairwise({ model: saying(JSON.stringify({ better: text })) }).evaluate(shown, evaluate),
    'A',
  ],
  'actions as text': [
    (text) => fromModel({ model: saying(text) }).propose(thinking, propose),
    'So.',
  ],
  'actions as JSON': [
    (text) => fromModel({ model: saying(text), form: 'several' }).propose(thinking, propose),
    '["So.", "Or so."]',
  ],
  'sub-questions': [
    (text) => subQuestion({ model: saying(`Now we can${text}`) }).propose(thinking, propose),
    ' answer: 4',
  ],
  'a review and what it betters': [
    (text) => selfRefine({ model: saying(text) }).propose(thinking, propose),
    'So.',
  ],
  'the lesson in a reflection': [
    (text) =>
      contrastive({
        ...{ model: saying(`So. ${text}`), memory: memory({ store: inMemoryStore() }) },
        task: 'enter',
      }).reflect(path([{ action: 'a', value: 0.9, rawValue: 0.1 }]), {
        environment: environmentOf(doors),
        context,
      }),
    '\nLesson: knock.',
  ],
  'the reply of a server': [
    (text) => serving(text).generate(request, call),
    '{"choices": [{"message": {"role": "assistant", "content": "a"}}]}',
  ],
  'the refusal of a server': [
    // That it becomes an error is how it is read.
    (text) =>
      serving(text, 400)
        .generate(request, call)
        .catch((error: Error) => error.message),
    '<p>No.</p>',
  ],
  'the thoughts and the answer in a reply': [
    (text) =>
      serving(
        JSON.stringify({ choices: [{ message: { content: text, role: 'assistant' } }] }),
      ).generate(request, call),
    '<think>Hm.</think>So.',
  ],
};

/** What is repeated, behind a beginning and before an end. */
export const hostile: readonly (readonly [string, string?, string?])[] = [
  ...['Step 1: ', '**Step 1: ', '# Step 1. ', '1. ', '- ', '\n', '\n\n', ' ', '\t', '# '].map(
    (each) => [each] as const,
  ),
  ['Step 1: ', '** ', 'x**'],
  [' ', '**Step 1', 'x'],
  [' ', '# ', 'x'],
  [' ', 'a', 'b'],
  [' \n', 'a', 'b'],
  ['-', 'a', 'b'],
  ['*', 'score: a', 'b'],
  [' ', 'Lesson', 'x'],
  ['Answer:\n\n'],
  ['the answer is '],
  ['the answer is ?', 'x'],
  [' ', 'the answer is 1', '?'],
  ['answer: ', '\n'],
  ['\\boxed{'],
  ['#### '],
  ['"answer":"'],
  ['\\frac{1}'],
  ['{"a":'],
  ['{"'],
  ['[{'],
  ['[[1],'],
  ['{"step": "a"}, ', '['],
  ['{ } '],
  [', ', '{"a": 1', '}'],
  ['"\\'],
  ['\\nabla '],
  ['<think>'],
  ['</think>'],
  ['<'],
  ['<a '],
  ['('],
  ['(a '],
  [')'],
  [';\n'],
  ['3 > '],
  ['3, ', '['],
  ['1', ''],
  ['1,'],
  ['4 * '],
  ['stack '],
  ['stack the '],
  ['up down '],
  ['yes'],
  [':', 'yes'],
  ['B'],
  ['B ', ''],
  ['```json\n'],
  ['```', '```json {'],
  ['é\u0301'],
];

function grown([each, before = '', after = '']: (typeof hostile)[number], size: number): string {
  return before + each.repeat(Math.floor(size / each.length)) + after;
}

async function timed(read: Reader, text: string): Promise<number> {
  const start = performance.now();
  try {
    await read(text);
  } catch (error) {
    // That it refuses a text in a sentence is as good an end as any other.
    if (!(EspalierError.isInstance(error) || ModelCallError.isInstance(error))) throw error;
  }
  return performance.now() - start;
}

/**
 * Why the time grows faster than the text, up to a size in characters; `undefined` where it does not. Four times the
 * text may take ten times as long.
 */
export async function fault(
  read: Reader,
  pattern: (typeof hostile)[number],
  size: number,
): Promise<string | undefined> {
  const time = (part: number) => timed(read, grown(pattern, size * part));
  // What is quadratic is told before it takes minutes.
  if ((await time(1 / 64)) > 50 && (await time(1 / 4)) > 8_000) return `8 s for ${size / 4}`;
  let worst = '';
  for (let attempt = 0; attempt < 3; attempt++) {
    const whole = await time(1);
    // Below that, collecting garbage takes longer than reading: 1.5 ms a KiB.
    if (whole < size / 700) return undefined;
    const quarter = await time(1 / 4);
    if (whole < 10 * quarter) return undefined;
    worst = `${Math.round(quarter)} ms for ${size / 4}, ${Math.round(whole)} ms for ${size}`;
  }
  return worst;
}
