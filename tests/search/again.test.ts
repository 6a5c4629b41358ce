import { describe, expect, test } from 'vitest';
import { contextWith } from '../../src/calls/door.ts';
import {
  type EvaluateRequest,
  type Evaluator,
  type GenerateRequest,
  type ModelCall,
  type SearchAlgorithm,
  treeFromJson,
  treeToJson,
} from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { searchOf } from '../support/search-of.ts';

const environment = {
  name: 'letters',
  reset: () => ({ state: '' }),
  step: (state: string, action: string) => ({ state: state + action }),
};
const policy = () => ['a', 'b'].map((action) => ({ action }));

/** Says 0.1, 0.2, 0.3, … of each node in turn, and notes what it was asked. */
function counting(asked: [readonly number[], number | undefined][]): Evaluator<string, string> {
  return {
    needs: 'realised',
    async evaluate(nodes, { offset }: EvaluateRequest<string, string>) {
      asked.push([nodes.map(({ id }) => id), offset]);
      await Promise.resolve();
      return nodes.map(({ evaluations }) => ({ value: (evaluations.length + 1) / 10 }));
    },
  };
}

function algorithm(run: SearchAlgorithm<string, string>['run']): SearchAlgorithm<string, string> {
  return { name: 'test', concurrency: 'any', laws: [], run };
}

describe('an evaluation that is asked for again', () => {
  test('is a further sample, of which the mean is the value, and is saved', async () => {
    const asked: [readonly number[], number | undefined][] = [];
    const { tree } = await searchOf({
      environment,
      policy,
      evaluator: counting(asked),
      algorithm: algorithm(async ({ root }, context) => {
        const [a = root, b = root] = await context.expand(root);
        await context.evaluate([a]);
        await context.evaluate([a]);
        await context.evaluate([a, b, a], { again: true });
        await context.evaluate([a, b], { again: true });
      }),
    });
    // Samples of one index are asked for together, and a node twice in a list once.
    expect(asked).toEqual([
      [[1], 0],
      [[1], 1],
      [[2], 0],
      [[1], 2],
      [[2], 1],
    ]);
    expect(tree.node(1).evaluations.map(({ value }) => value)).toEqual([0.1, 0.2, 0.3]);
    expect(tree.node(1).rawValue).toBeCloseTo(0.2, 12);
    expect(tree.node(2).rawValue).toBeCloseTo(0.15, 12);
    const loaded = treeFromJson(treeToJson(tree));
    expect(loaded.node(1).rawValue).toBe(tree.node(1).rawValue);
  });

  test('waits for the one under way, so that each sample has an index of its own', async () => {
    const asked: [readonly number[], number | undefined][] = [];
    const { tree } = await searchOf({
      environment,
      policy,
      evaluator: counting(asked),
      algorithm: algorithm(async ({ root }, context) => {
        await Promise.all([1, 2, 3].map(() => context.evaluate([root], { again: true })));
      }),
    });
    expect(asked.map(([, offset]) => offset)).toEqual([0, 1, 2]);
    expect(tree.root.evaluations).toHaveLength(3);
  });

  test('goes on to the next sample of a model where one came to nothing', async () => {
    const model = scriptedModel({ answer: (_request, index) => `${index}` });
    let reads = 0;
    const { tree } = await searchOf({
      environment,
      policy,
      evaluator: async (_node, { context }) => {
        const messages = [{ role: 'user' as const, content: 'How good?' }];
        const { completions } = await context.generate(model, { messages });
        reads++;
        if (reads === 2) throw new Error(`cannot read ${completions[0]?.text}`);
        return 0.5;
      },
      algorithm: algorithm(async ({ root }, context) => {
        for (let time = 0; time < 4; time++) await context.evaluate([root], { again: true });
      }),
    });
    expect(model.completions).toBe(4);
    expect(tree.root.evaluations).toHaveLength(3);
  });
});

describe('a further evaluation that comes to nothing', () => {
  test('leaves the node with the value that it has', async () => {
    let calls = 0;
    const { tree, failures } = await searchOf({
      environment,
      policy,
      evaluator: () => {
        calls++;
        if (calls === 2) throw new Error('the judge is out');
        return calls === 3 ? 2 : 0.4;
      },
      algorithm: algorithm(async ({ root }, context) => {
        for (let time = 0; time < 4; time++) await context.evaluate([root], { again: true });
      }),
    });
    expect(calls).toBe(4);
    expect([tree.root.status, tree.root.rawValue]).toEqual(['open', 0.4]);
    expect(tree.root.evaluations).toHaveLength(2);
    expect(failures).toMatchObject({ count: 2, kinds: { call: 1, invalid: 1 } });
    expect(failures.first[0]?.message).toContain('the judge is out');
  });
});

test('an evaluation that is asked for again draws further samples of a model', async () => {
  const model = scriptedModel({ answer: (_request, index) => `${index % 10}` });
  const offsets: (number | undefined)[] = [];
  const listening = {
    ...model,
    generate: (request: GenerateRequest, call: ModelCall) => {
      offsets.push(request.offset);
      return model.generate(request, call);
    },
  };
  const { tree, spend } = await searchOf({
    environment,
    policy,
    evaluator: {
      needs: 'realised',
      async evaluate([node], { context }) {
        const messages = [{ role: 'user' as const, content: `How good is ${node?.id}?` }];
        // Through a wrapped context too: what wraps one hands calls on.
        const { completions } = await contextWith(context, {}).generate(listening, {
          messages,
          samples: 2,
        });
        return [{ value: completions.reduce((sum, { text }) => sum + Number(text) / 20, 0) }];
      },
    },
    algorithm: algorithm(async ({ root }, context) => {
      for (let time = 0; time < 3; time++) await context.evaluate([root], { again: true });
    }),
  });
  expect(new Set(offsets).size).toBe(offsets.length);
  expect(spend.calls).toBe(6);
  expect(tree.root.evaluations).toHaveLength(3);
});

describe('an evaluation, again or not,', () => {
  test('is not asked for where an end was rewarded, or a node has failed', async () => {
    const asked: [readonly number[], number | undefined][] = [];
    await searchOf({
      environment: {
        ...environment,
        step: (state, action) => {
          if (action === 'b') throw new Error('no way');
          return { state: state + action, terminal: true, reward: 1 };
        },
      },
      policy,
      evaluator: counting(asked),
      algorithm: algorithm(async ({ root }, context) => {
        await context.evaluate(await context.expand(root), { again: true });
      }),
    });
    expect(asked).toEqual([]);
  });
});
