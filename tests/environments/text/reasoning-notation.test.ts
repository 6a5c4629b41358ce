import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ReasoningOptions,
  type ReasoningState,
  reasoning,
} from '../../../src/environments/index.ts';
import { property } from '../../support/property.ts';
import { said } from '../../support/said.ts';
import { told } from '../../support/told.ts';

const question = 'Ann has 3 apples and buys 4. How many has she?';
const start: ReasoningState = { question, steps: [] };
const later: ReasoningState = { question, steps: ['She has 3.', 'She buys 4.'] };
const answered: ReasoningState = { question, steps: ['The answer is 7.'], answer: '7' };

function notations(options: Partial<ReasoningOptions> = {}) {
  return reasoning({ question, ...options }).notations;
}

const task = `Solve the problem below step by step. A step does one thing: it recalls a fact, sets up an equation, works
something out or checks a result. Steps are numbered and parted by an empty line.
End the step that reaches the final answer with the words: The answer is <answer>.

Problem:
${question}`;

describe('a state', () => {
  test('is shown to a model that restates nothing as the beginning of its own answer', () => {
    const { continued } = notations();
    expect(continued.prompt(start)).toEqual([
      { role: 'user', content: task },
      { role: 'assistant', content: 'Step 1:' },
    ]);
    expect(continued.prompt(later)).toEqual([
      { role: 'user', content: task },
      { role: 'assistant', content: 'Step 1: She has 3.\n\nStep 2: She buys 4.\n\nStep 3:' },
    ]);
    expect(continued.prompt(answered).at(-1)?.content).toBe('Step 1: The answer is 7.');
  });

  test('is restated behind the question, with the request last', () => {
    const { restated } = notations();
    expect(said(restated.prompt(start))).toEqual([
      { role: 'user', content: `${task}\n\nWrite step 1, and nothing else.` },
    ]);
    expect(said(restated.prompt(later))).toEqual([
      {
        role: 'user',
        content: `${task}

Steps so far:

Step 1: She has 3.

Step 2: She buys 4.

Write step 3, and nothing else.`,
      },
    ]);
  });

  test.each(['restated', 'json'] as const)(
    'of %s says behind which pieces the prompts of children part from it',
    (name) => {
      const { prompt } = notations()[name];
      const [{ content = '', prefixEnds = [] } = {}] = prompt(later);
      const pieces = prefixEnds.map((end, place) => content.slice(prefixEnds[place - 1] ?? 0, end));
      expect(pieces.map((piece) => piece.trim().split('\n').at(-1))).toEqual([
        question.split('\n').at(-1),
        'Step 1: She has 3.',
        'Step 2: She buys 4.',
      ]);
      expect(content.slice(prefixEnds.at(-1)).trim()).toMatch(/^Write step 3.* nothing else\.$/);
      const [child = { content: '', prefixEnds: [] }] = prompt({
        question,
        steps: [...later.steps, 'So it is 7.'],
      });
      expect(child.prefixEnds?.slice(0, -1)).toEqual(prefixEnds);
      expect(child.content.startsWith(content.slice(0, prefixEnds.at(-1)))).toBe(true);
    },
  );

  test('that is answered asks for no step, so that a judge can ask instead', () => {
    const content = `${task}\n\nSteps so far:\n\nStep 1: The answer is 7.`;
    expect(said(notations().restated.prompt(answered))).toEqual([{ role: 'user', content }]);
  });

  test('asks for JSON in the notation of JSON', () => {
    const content = notations().json.prompt(later)[0]?.content ?? '';
    expect(content).toContain('Write a step as JSON: {"step": "<text>", "answer": null}.');
    expect(content).toContain('Step 1: She has 3.\n\nStep 2: She buys 4.\n\n');
    expect(content).toMatch(/\n\nWrite step 3 as JSON, and nothing else\.$/);
    expect(content).not.toContain('The answer is');
  });

  test('is shown behind a system message where there is one', () => {
    const { continued, restated, json } = notations({ system: 'Be brief.' });
    for (const { prompt } of [continued, restated, json]) {
      const [first, second] = prompt(later);
      expect(first).toEqual({ role: 'system', content: 'Be brief.' });
      expect(second?.role).toBe('user');
    }
  });

  test('is told how steps are parted', () => {
    const { continued, restated } = notations({ delimiter: '\n' });
    expect(continued.prompt(later)[0]?.content).toContain('numbered and written one a line.');
    expect(continued.prompt(later)[1]?.content).toBe(
      'Step 1: She has 3.\nStep 2: She buys 4.\nStep 3:',
    );
    expect(restated.delimiter).toBe('\n');
    expect(notations({ delimiter: '##' }).restated.prompt(start)[0]?.content).toContain(
      'numbered and parted by "##".',
    );
  });
});

describe('prompts', () => {
  const path: readonly ReasoningState[] = [
    start,
    { question, steps: ['She has 3.'] },
    { question, steps: ['She has 3.', 'She buys 4.'] },
  ];

  test.each(['continued', 'restated', 'json'] as const)(
    'of %s share all but the request with those of their children',
    (name) => {
      const { prompt } = notations()[name];
      const texts = path.map((state) => JSON.stringify(said(prompt(state))));
      for (const [place, text] of texts.slice(1).entries()) {
        const parent = texts[place] ?? '';
        const shared = [...parent].findIndex((character, index) => text[index] !== character);
        // What is not shared: the request, the number of the next step, or nothing but quotes.
        expect(parent.length - shared).toBeLessThan(60);
      }
      // Siblings share everything up to their own last step.
      const [one, other] = ['She has 4.', 'She has 5.'].map((step) =>
        JSON.stringify(said(prompt({ question, steps: ['So it is.', step] }))),
      );
      const shared = [...(one ?? '')].findIndex((character, index) => other?.[index] !== character);
      expect(one?.slice(shared - 8, shared)).toBe('She has ');
    },
  );
});

describe('text', () => {
  const { parse } = notations().restated;

  test.each([
    ['a step', '3 + 4 = 7.', '3 + 4 = 7.'],
    ['white space', '\n\n  3 + 4 = 7. \n', '3 + 4 = 7.'],
    ['its label', 'Step 3: 3 + 4 = 7.', '3 + 4 = 7.'],
    ['a label without a colon', 'Step 3 Add up.', 'Add up.'],
    ['a label without a colon on its line', 'Step 3\nAdd up.', 'Add up.'],
    ['a label before a dash', 'Step 3 - Add up.', 'Add up.'],
    ['a label before a number', 'Step 3 3 + 4 = 7.', '3 + 4 = 7.'],
    ['a title without a colon', '**Step 3 Add up.** It is 7.', '**Add up.** It is 7.'],
    ['a label in German', 'Schritt 3: Wir addieren.', 'Wir addieren.'],
    ['a label in French', 'Étape 3 : On ajoute 4.', 'On ajoute 4.'],
    ['a label in Chinese', '步骤3：加上4。', '加上4。'],
    ['the first of several without a colon', 'Add.\nStep 4 It is 7.', 'Add.'],
    ['another label', 'step 12. Add up.', 'Add up.'],
    ['a label in bold', '**Step 3:** Add up.', 'Add up.'],
    ['a label in bold before the colon', '**Step 3**: Add up.', 'Add up.'],
    ['a title', '**Step 3: Add up.** It is 7.', '**Add up.** It is 7.'],
    ['a heading', '### Step 3: Add up', 'Add up'],
    ['a label twice', 'Step 3: Step 3: Add up.', 'Add up.'],
    ['a label alone on its line', 'Step 3:\n\nAdd up.', 'Add up.'],
    ['a bullet', '- Add 3 and 4.', 'Add 3 and 4.'],
    ['the number of the step', '3. Add 3 and 4.', 'Add 3 and 4.'],
    ['the first of several', 'Add up.\n\nIt is 7.', 'Add up.'],
    ['the first of several that are labelled only', 'Step 3: Add.\nStep 4: It is 7.', 'Add.'],
    ['lines of one step', 'Add:\n3 + 4\n= 7.', 'Add:\n3 + 4\n= 7.'],
    ['other line breaks', 'Add:\r\n7.\r\n\r\nDone.', 'Add:\n7.'],
    ['thoughts', '<think>Hm.\n\n</think>\n\nAdd up.', 'Add up.'],
    ['a heading above the answer', '# Answer\n\n29', 'Answer: 29'],
    ['the answer in bold', '**Final Answer**\n\n\\boxed{7}', 'Answer: \\boxed{7}'],
  ])('is read without what is around a step: %s', (_what, text, step) => {
    expect(told(parse(text, later))).toBe(step);
    expect(told(parse(step, later))).toBe(step);
  });

  test.each([
    ['a minus sign', '- 4 + 11 = 7'],
    ['a decimal', '3.5 + 3.5 = 7'],
    ['a sum behind a number', '3. 4 + 4'],
    ['the number of another step', '2. is the only even prime.'],
    ['steps spoken of', 'In step 2 she buys 4.'],
    ['a step spoken of at the beginning', 'Step 2 gives 4.'],
    ['emphasis', '**Add** them.'],
  ])('keeps what may belong to the step: %s', (_what, text) => {
    expect(told(parse(text, later))).toBe(text);
  });

  test.each([
    ['', 'empty', 'Expected a step, got no text.'],
    [' \n\n ', 'empty', 'Expected a step, got no text.'],
    ['Step 3:', 'empty', 'Expected a step, got no text.'],
    ['…', 'parse', 'Expected a step in words, got `…`.'],
    ['<think>Let me', 'parse', 'Expected a step, got thoughts that do not end.'],
    ['**Answer:**', 'parse', 'Expected a step, got a heading and nothing below it.'],
  ])('that is no step fails: %j', (text, kind, message) => {
    expect(told(parse(text, later))).toEqual({ kind, message });
  });

  test('is parted by the delimiter asked for', () => {
    const lines = notations({ delimiter: '\n' }).continued;
    expect(told(lines.parse(' Add up.\nIt is 7.', later))).toBe('Add up.');
    const marks = notations({ delimiter: '##' }).continued;
    expect(told(marks.parse('## Add up.\n\nIt is 7.## Done.', later))).toBe('Add up.\n\nIt is 7.');
  });
});

describe('JSON', () => {
  const { parse, format, schema } = notations().json;

  test.each([
    ['{"step": "3 + 4 = 7.", "answer": null}', '3 + 4 = 7.'],
    ['{"step": "Step 3: Add up."}', 'Add up.'],
    ['{"step": "Add up.", "answer": ""}', 'Add up.'],
    ['"Add up."', 'Add up.'],
    ['{"step": "3 + 4 = 7.", "answer": "7"}', '3 + 4 = 7.\nThe answer is 7.'],
    ['{"step": "3 + 4 = 7.", "answer": 7}', '3 + 4 = 7.\nThe answer is 7.'],
    ['{"step": "The answer is 7.", "answer": "7 apples"}', 'The answer is 7.'],
    ['{"step": "So \\\\boxed{\\\\frac{1}{2}}", "answer": "0.5"}', 'So \\boxed{\\frac{1}{2}}'],
    ['{"step": "", "answer": "7"}', 'The answer is 7.'],
    ['{"step": "So it is.", "answer": "not one"}', 'So it is.\nThe answer is \\boxed{not one}.'],
    ['{"step": "Add:\\n\\n3 + 4 = 7.", "answer": null}', 'Add:\n3 + 4 = 7.'],
  ])('is read as a step that states its answer: %s', (text, step) => {
    expect(told(parse(text, later))).toBe(step);
    expect(told(parse(format(step), later))).toBe(step);
  });

  test.each([
    ['{"step": ""}', 'empty', 'Expected a step, got an empty one.'],
    [
      '{"step": "The answer is 7.", "answer": "8"}',
      'parse',
      'Expected one answer, got `7` in the step and `8` beside it.',
    ],
    ['{"step": 7}', 'parse', 'got `7` for `step`.'],
    ['{"step": "Add up.", "answer": ["7"]}', 'parse', 'got an array of 1 for `answer`.'],
    ['[1]', 'parse', 'got `[1]`.'],
    ['Add up.', 'parse', 'got `Add up.`.'],
    [`{"step": "Add up.", "answer": "${'x'.repeat(300)}"}`, 'parse', 'Expected a short answer'],
  ])('that is no step fails: %s', (text, kind, message) => {
    const said: unknown = expect.stringContaining(message);
    expect(told(parse(text, later))).toEqual({ kind, message: said });
  });

  test('is written with the answer of the step', () => {
    expect(format('She has 3.')).toBe('{"step":"She has 3.","answer":null}');
    expect(format('The answer is 7.')).toBe('{"step":"The answer is 7.","answer":"7"}');
  });

  test('compares answers and finds them as the caller does', () => {
    const json = notations({
      extract: (step) => /=> (.*)$/.exec(step)?.[1]?.replace(/^The answer is (.*)\.$/, '$1'),
      isEqual: (left, right) => left.toLowerCase() === right,
    }).json;
    expect(told(json.parse('{"step": "=> SEVEN", "answer": "seven"}', later))).toBe('=> SEVEN');
    expect(told(json.parse('{"step": "=> SEVEN", "answer": "7"}', later))).toMatchObject({
      kind: 'parse',
    });
  });

  test('has a schema that strict modes accept: all members required, none besides', () => {
    expect(schema).toEqual({
      type: 'object',
      properties: {
        step: { type: 'string' },
        answer: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
      required: ['step', 'answer'],
      additionalProperties: false,
    });
  });
});

const fragment = fc.constantFrom(
  'Step 3: ',
  '**',
  '**Step 3: Add**',
  '### ',
  '- ',
  '3. ',
  '# Answer',
  'Answer:',
  '\n',
  '\n\n',
  ' ',
  'Add up.',
  'The answer is 7.',
  '7',
  '##',
  '"',
  '\\boxed{7}',
);
const text = fc.array(fragment, { maxLength: 10 }).map((parts) => parts.join(''));

for (const delimiter of ['\n\n', '\n', '##']) {
  for (const name of ['restated', 'json'] as const) {
    property([text])(
      `a step that was read from ${name} text is read again as it is, parted by ${JSON.stringify(delimiter)}`,
      (written) => {
        const { parse, format } = notations({ delimiter })[name];
        const step = told(
          parse(name === 'json' ? JSON.stringify({ step: written }) : written, later),
        );
        if (typeof step !== 'string') return;
        expect(told(parse(format(step), later))).toBe(step);
        expect(step.includes(delimiter)).toBe(false);
      },
    );
  }
}
