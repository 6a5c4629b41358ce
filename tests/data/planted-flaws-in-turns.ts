import type { FlawedRow } from './good-sets.ts';
import type { Flaw } from './planted-flaws.ts';

/** Flaws in turns, tools, answers and words, by name. */
export const flawsInTurns: Readonly<Record<string, Flaw>> = {
  'a side that nobody sees': {
    set: 'trl',
    code: 'empty-side',
    spoil: (row) => ({ ...row, rejected: '\u200b\u2060' }),
  },
  'sides that differ in case': {
    set: 'trl',
    code: 'alike-sides',
    spoil: (row) => ({ ...row, rejected: String(row['chosen']).toUpperCase() }),
  },
  'a missing value as text': {
    set: 'kto',
    code: 'no-value',
    spoil: (row, place) => ({ ...row, completion: ['None', 'nan', '[object Object]'][place % 3] }),
    // Three words for ten rows.
    besides: ['duplicate', 'near-duplicate'],
  },
  'a conversation as Python': {
    set: 'trl',
    code: 'text-conversation',
    spoil: (row) => ({ ...row, chosen: `[{'role': 'assistant', 'content': '${row['chosen']}'}]` }),
  },
  'a content that is a number': {
    set: 'talks',
    code: 'wrong-type',
    spoil: (row, place) => ({ ...row, chosen: [{ role: 'assistant', content: place }] }),
  },
  'system behind user': {
    set: 'talks',
    code: 'turn-order',
    spoil: (row) => ({
      ...row,
      prompt: [...row['prompt'], { role: 'system', content: 'Be brief.' }],
    }),
  },
  'assistant before user': {
    set: 'talks',
    code: 'turn-order',
    spoil: (row) => ({
      ...row,
      prompt: [{ role: 'assistant', content: 'Good day.' }, ...row['prompt']],
    }),
  },
  'a prompt that is answered': {
    set: 'talks',
    code: 'prompt-continues',
    spoil: (row) => ({
      ...row,
      prompt: [...row['prompt'], { role: 'assistant', content: 'There are nine.' }],
    }),
  },
  'names of another vocabulary': {
    set: 'sharegpt',
    code: 'invalid-role',
    spoil: (row) => ({
      ...row,
      conversations: [{ ...row['conversations'][0], from: 'user' }],
    }),
  },
  'a tool without a name': {
    set: 'tools',
    code: 'invalid-tools',
    spoil: (row) => ({
      ...row,
      tools: '[{"type":"function","function":{"description":"Looks."}}]',
    }),
    besides: ['undeclared-tool'],
  },
  'a tool that is there twice': {
    set: 'tools',
    code: 'tool-schema',
    spoil: (row) => changedTools(row, (tools) => [...tools, ...tools]),
  },
  'a schema of no known type': {
    set: 'tools',
    code: 'tool-schema',
    spoil: (row) =>
      changedTools(row, ([tool = {}]) => [
        { ...tool, function: { ...tool['function'], parameters: { type: 'thing' } } },
      ]),
  },
  'an argument of another type': {
    set: 'tools',
    code: 'invalid-arguments',
    spoil: (row, place) => ({ ...row, chosen: [calling('look', { at: place })] }),
  },
  'a required argument that is missing': {
    set: 'tools',
    code: 'invalid-arguments',
    spoil: (row) =>
      changedTools({ ...row, chosen: [calling('look', {})] }, ([tool = {}]) => {
        const own = tool['function'];
        const parameters = { ...own.parameters, required: ['at'] };
        return [{ ...tool, function: { ...own, parameters } }];
      }),
  },
  'a result without a call': {
    set: 'tools',
    code: 'unmatched-result',
    spoil: (row) => ({
      ...row,
      prompt: [...row['prompt'], { role: 'tool', name: 'look', content: '7' }],
    }),
  },
  'a call without a result': {
    set: 'tools',
    code: 'unanswered-call',
    spoil: (row) => ({
      ...row,
      prompt: [...row['prompt'], calling('look', { at: 'home' }), { role: 'user', content: 'So?' }],
    }),
  },
  'the answer within the prompt': {
    set: 'verl',
    code: 'leaked-answer',
    spoil: (row) => ({
      ...row,
      prompt: [
        {
          role: 'user',
          content: `${row['prompt'][0].content} The answer is ${row['reward_model'].ground_truth}.`,
        },
      ],
    }),
  },
  'no answer to compare with': {
    set: 'verl',
    code: 'missing-column',
    spoil: (row) => ({ ...row, reward_model: { style: 'rule' } }),
  },
  'an empty answer': {
    set: 'verl',
    code: 'empty-answer',
    spoil: (row) => ({ ...row, reward_model: { style: 'rule', ground_truth: '' } }),
  },
  'a prompt that is text': {
    set: 'verl',
    code: 'wrong-type',
    spoil: (row) => ({ ...row, prompt: row['prompt'][0].content }),
    besides: ['mixed-types'],
  },
  'an answer of two types': {
    set: 'verl',
    code: 'mixed-types',
    spoil: (row, place) => ({ ...row, reward_model: { style: 'rule', ground_truth: place } }),
  },
  'tokens of a template': {
    set: 'talks',
    code: 'template-token',
    spoil: (row) => inTurn(row, (text) => `<|im_start|>user\n${text}<|im_end|>`),
  },
  'a placeholder': {
    set: 'talks',
    code: 'unfilled-placeholder',
    spoil: (row) => inTurn(row, (text) => `${text} It is about {context}.`),
  },
  'a wrong encoding': {
    set: 'talks',
    code: 'mojibake',
    spoil: (row) => inTurn(row, (text) => `${text} The cafÃ© is for MÃ¼ller.`),
  },
  'a code for the terminal': {
    set: 'kto',
    code: 'control-character',
    spoil: (row) => ({ ...row, completion: `\u001b[1m${row['completion']}` }),
  },
  'HTML that was escaped twice': {
    set: 'kto',
    code: 'double-escape',
    spoil: (row) => ({ ...row, completion: `${row['completion']} a &amp;lt; b` }),
  },
  'a thought without an end': {
    set: 'kto',
    code: 'unclosed-thought',
    spoil: (row) => ({ ...row, completion: `<think>${row['completion']}` }),
  },
  'words in a loop': {
    set: 'kto',
    code: 'repetition',
    spoil: (row) => ({
      ...row,
      completion: `${row['completion']} ${'and so it goes on, '.repeat(40)}`,
    }),
  },
  'the prompt once more': {
    set: 'kto',
    code: 'prompt-repeated',
    spoil: (row) => ({ ...row, completion: `${row['prompt']}${row['completion']}` }),
  },
  'a key twice': {
    set: 'trl',
    code: 'repeated-key',
    spoil: (row) => `${JSON.stringify(row).slice(0, -1)}, "chosen": "Something else."}`,
  },
  'a mark of the encoding within the file': {
    set: 'trl',
    code: 'not-json',
    spoil: (row) => `\ufeff${JSON.stringify(row)}`,
  },
  'margins that say nothing': {
    set: 'trl',
    code: 'zero-margin',
    isOfSet: true,
    spoil: (row) => ({ ...row, margin: 0, chosen_value: 0.5, rejected_value: 0.5 }),
    besides: ['int-and-float'],
  },
  'one answer to everything': {
    set: 'alpaca',
    code: 'one-answer',
    isOfSet: true,
    spoil: (row) => ({ ...row, output: 'Here you are.' }),
  },
};

function changedTools(
  row: FlawedRow,
  change: (tools: readonly FlawedRow[]) => readonly FlawedRow[],
): FlawedRow {
  const tools = JSON.parse(String(row['tools'])) as readonly FlawedRow[];
  return { ...row, tools: JSON.stringify(change(tools)) };
}

function calling(name: string, args: object): FlawedRow {
  return {
    role: 'assistant',
    content: '',
    tool_calls: [{ type: 'function', function: { name, arguments: args } }],
    name: null,
  };
}

function inTurn(row: FlawedRow, change: (text: string) => string): FlawedRow {
  const [turn] = row['prompt'];
  return { ...row, prompt: [{ ...turn, content: change(turn.content) }] };
}
