import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openaiCompatible } from '../../src/backends/index.ts';
import type { JsonValue } from '../../src/contracts/json.ts';
import { auditDataset } from '../../src/data/index.ts';
import { blocksworld, gameOf24, reasoning } from '../../src/environments/index.ts';
import { mcts, search, treeFromJson, treeToJson } from '../../src/index.ts';
import { fromModel, uniform } from '../../src/policies/index.ts';
import { plainContext, scriptedModel } from '../../src/testing/index.ts';
import { heuristic, judge } from '../../src/values/index.ts';
import { build, espalier, fileIn, temporaryFolder } from '../cli/espalier.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, rootNode } from '../support/nodes.ts';
import { notation as words } from '../values/judge-fixtures.ts';

const depths = [5_000, 20_000];

/** JSON of arrays or objects within each other. */
function deep(depth: number, kind: 'arrays' | 'objects' = 'objects'): string {
  return kind === 'arrays'
    ? '['.repeat(depth) + ']'.repeat(depth)
    : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
}

function deepValue(depth: number): JsonValue {
  return JSON.parse(deep(depth)) as JsonValue;
}

const sentence = /^(?!.*call stack)[A-Z`].*\.$/s;
const anError = (code: string) =>
  expect.objectContaining({ code, message: expect.stringMatching(sentence) as string }) as Error;

const request = { environment: environmentOf(words), context: plainContext(), remaining: noSpend };
const four = gameOf24.environment({ numbers: [4, 6, 1, 1] });
const { tree: grown } = await search(four, {
  policy: uniform(four.actions),
  evaluator: heuristic(() => 0.5),
  algorithm: mcts(),
  budget: { simulations: 3 },
});

const temporary = temporaryFolder();

test.each(depths)('a PDDL problem is refused in a sentence, %i deep', (depth) => {
  const lists = '('.repeat(depth) + ')'.repeat(depth);
  expect(() => blocksworld.parse(lists)).toThrowError(anError('usage'));
  expect(() => blocksworld.parse(`(define (problem p) (:goal ${lists}))`)).toThrowError(
    anError('usage'),
  );
});

test.each(
  depths.flatMap((depth) =>
    (['json', 'several', 'text'] as const).map((form) => [form, depth] as const),
  ),
)('an action as %s is a failure, %i deep', async (form, depth) => {
  const task = reasoning({ question: 'How many?' });
  for (const text of [deep(depth, 'arrays'), deep(depth), `{"actions": [${deep(depth)}]}`]) {
    const policy = fromModel({
      model: scriptedModel({ answer: () => text, usage: () => ({}) }),
      form,
    });
    const proposals = await policy.propose(rootNode(task.reset().state), {
      ...request,
      environment: { ...task, notation: form === 'text' ? task.notations.json : task.notation },
      count: 1,
      offset: 0,
    });
    expect(proposals.map((each) => 'failure' in each || !('action' in each))).not.toContain(false);
  }
});

test.each(depths)(
  'a judgement is a failure, and what stands behind it counts, %i deep',
  async (depth) => {
    const evaluate = (answer: string) =>
      judge({
        model: scriptedModel({ answer: () => answer, usage: () => ({}) }),
        form: 'number',
      }).evaluate([rootNode<string, string>('s')], request);
    expect(await evaluate(`{"score": ${deep(depth)}}`)).toMatchObject([
      { failure: { kind: 'parse' } },
    ]);
    expect(await evaluate(`${deep(depth)} {"score": 10}`)).toMatchObject([{ value: 1 }]);
  },
);

test.each(depths)('the input of a tool is no input that is used, %i deep', async (depth) => {
  const call = { name: 'f', arguments: deep(depth) };
  const body = {
    choices: [
      { message: { role: 'assistant', content: '', tool_calls: [{ id: '1', function: call }] } },
    ],
  };
  const model = openaiCompatible({
    ...{ baseUrl: 'http://localhost:1/v1', model: 'm', preset: 'generic', retry: false },
    fetch: async () => new Response(JSON.stringify(body)),
  });
  const { completions } = await model.generate(
    { messages: [{ role: 'user', content: 'q' }] },
    { signal: new AbortController().signal, clock: plainContext().clock },
  );
  expect(completions).toMatchObject([{ finishReason: 'other' }]);
  expect(completions[0]?.toolCalls).toBeUndefined();
});

test.each(depths)(
  'a start can be searched, and its tree is not written, %i deep',
  async (depth) => {
    const { tree } = await search(
      {
        name: 'deep',
        reset: () => ({ state: deepValue(depth) }),
        step: (state) => ({ state }),
      },
      {
        policy: { propose: () => [{ action: 'go' }] },
        evaluator: heuristic(() => 0.5),
        algorithm: mcts(),
        budget: { simulations: 2 },
        journal: { lines: [], mode: 'record', append: () => {} },
      },
    );
    expect(() => treeToJson(tree)).toThrowError(anError('usage'));
  },
);

test.each(depths)('the result of a tool is a failure that says so, %i deep', async (depth) => {
  const failures: string[] = [];
  const { failures: told } = (await search(
    {
      name: 'tools',
      reset: () => ({ state: 0 }),
      step: async (state, _action: string, context) => {
        await context.effect({ name: 'look' } as never, null, async () => deepValue(depth));
        return { state: state + 1 };
      },
    },
    {
      policy: { propose: () => [{ action: 'go' }] },
      evaluator: heuristic(() => 0.5),
      algorithm: mcts(),
      budget: { simulations: 2 },
    },
  ).catch((error: unknown) => ({ failures: [String(error)] }))) as { failures?: unknown };
  failures.push(JSON.stringify(told ?? ''));
  expect(failures.join()).not.toContain('call stack');
});

test.each(depths)(
  'a state of a tree is refused in a sentence, written and read, %i deep',
  (depth) => {
    const json = treeToJson(grown);
    const nodes = json.nodes.map((node) => ({ ...node, state: deepValue(depth) }));
    expect(() => treeFromJson({ ...json, nodes })).toThrowError(anError('invalid-tree'));
    const tree = treeFromJson(json);
    const codec = { encode: () => deepValue(depth), decode: () => 0 };
    expect(() => treeToJson(tree, { codec })).toThrowError(anError('usage'));
  },
);

test.each(depths)('a row of a dataset is a fault of its line, %i deep', async (depth) => {
  for (const [name, text] of [
    [
      'rows.jsonl',
      `{"prompt": "a", "completion": ${deep(depth)}}\n{"messages": ${deep(depth, 'arrays')}}\n`,
    ],
    ['rows.json', `[{"prompt": "a", "chosen": ${deep(depth)}, "rejected": "b"}]`],
  ] as const) {
    const { findings } = await auditDataset(fileIn(temporary, name, text));
    expect(JSON.stringify(findings)).toMatch(/nested|JSON/);
  }
});

describe('the command line', () => {
  beforeAll(build, 300_000);

  test.each(depths)('draws no tree nested %i deep, and says why', async (depth) => {
    const run = join(temporary, `run-${depth}`);
    mkdirSync(run, { recursive: true });
    const json = treeToJson(grown);
    const nodes = json.nodes.map((node) => ('action' in node ? { ...node, action: '?' } : node));
    const entry = { problem: 'p', attempt: 0, step: 0, tree: { ...json, nodes } };
    const text = JSON.stringify(entry).replaceAll('"?"', deep(depth));
    expect(text).toContain(deep(depth));
    writeFileSync(join(run, 'trees.jsonl'), `${text}\n`);
    writeFileSync(join(run, 'run.json'), `{"algorithm": "mcts", "extra": ${deep(depth)}}\n`);
    const { code, stdout, stderr } = await espalier('tree', run);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^The tree of the problem "p" in `.*trees\.jsonl`: .* at most 512 deep.*\n$/,
    );
  });

  test.each(depths)('reads a problem with a field nested %i deep', async (depth) => {
    const file = fileIn(
      temporary,
      `problems-${depth}.jsonl`,
      `{"task": "game24", "input": "4 6 1 1", "extra": ${deep(depth)}}\n{"question": ${deep(depth)}}\n`,
    );
    const { code, stderr } = await espalier(
      'generate',
      '--problems',
      file,
      '--model',
      'none',
      '--run',
      join(temporary, 'g'),
      '--out',
      join(temporary, 'out'),
    );
    expect(code).toBe(2);
    expect(stderr).toMatch(/^Line 2 of .*\n$/);
    expect(stderr).not.toContain('call stack');
  });
});
