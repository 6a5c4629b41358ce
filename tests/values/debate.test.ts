import { describe, expect, test } from 'vitest';
import { mcts, search } from '../../src/index.ts';
import { scriptedModel, tableMdp } from '../../src/testing/index.ts';
import { debate } from '../../src/values/judge/debate.ts';
import { rootNode } from '../support/nodes.ts';
import { notation, proposals, request, told } from './judge-fixtures.ts';

const root = rootNode<string, string>('half done');
type Role = 'advocate' | 'opponent' | 'pro first' | 'contra first';

/** Who is asked. */
function roleOf(asked: string): Role {
  if (asked.includes('Argue for it')) return 'advocate';
  return asked.includes('Argue against it') ? 'opponent' : orderOf(asked);
}

function orderOf(asked: string): Role {
  return asked.indexOf('PRO') < asked.indexOf('CONTRA') ? 'pro first' : 'contra first';
}

const capabilities = { n: true, temperature: true };

/** Debaters that say what they are, and a judge that gives these codes in each order. */
function parties(given: readonly string[], swapped: readonly string[]) {
  const debaters = scriptedModel({
    capabilities,
    modelId: 'debaters',
    latencyMs: 5,
    answer: (asked) => (roleOf(told(asked)) === 'advocate' ? 'PRO: it fits.' : 'CONTRA: it lacks.'),
  });
  const model = scriptedModel({
    capabilities,
    modelId: 'judge',
    latencyMs: 5,
    answer: (asked, index) =>
      (orderOf(told(asked)) === 'pro first' ? given : swapped)[index] ?? 'none',
  });
  return { model, debaters };
}

const code = (status: string) => JSON.stringify({ reason: 'so it is', status });

describe('a debate', () => {
  test('is worth the mean of six codes', async () => {
    const sides = parties(['A', 'B', 'C'].map(code), ['D', 'E', 'A'].map(code));
    const evaluator = debate({ ...sides });
    expect(evaluator.needs).toBe('realised');
    expect(evaluator.prompts).toHaveProperty('debate');
    // (1 + 0.9 + 0.5 + 0.2 + 0 + 1) / 6 = 3.6 / 6
    expect(await evaluator.evaluate([root], request)).toEqual([
      {
        value: expect.closeTo(0.6, 12) as number,
        rationale: 'For: PRO: it fits.\nAgainst: CONTRA: it lacks.',
      },
    ]);
    expect(sides.debaters.completions).toBe(2);
    expect(sides.model.completions).toBe(6);
  });

  test('lets both sides argue at once and blind, then asks the judge in both orders at once', async () => {
    const { model, debaters } = parties(['A', 'A', 'A'], ['A', 'A', 'A']);
    await debate({ model, debaters }).evaluate([root], request);
    expect(debaters.mostInFlight).toBe(2);
    expect(model.mostInFlight).toBe(2);
    expect(debaters.requests.map((asked) => roleOf(told(asked)))).toEqual(['advocate', 'opponent']);
    for (const asked of debaters.requests) {
      expect(asked).toMatchObject({ samples: 1, temperature: 0.1, maxTokens: 256 });
      expect(asked.topP).toBeUndefined();
      expect(told(asked)).not.toMatch(/PRO|CONTRA/);
      expect(told(asked)).toContain('At most 100 words');
    }
    expect(model.requests.map((asked) => orderOf(told(asked)))).toEqual([
      'pro first',
      'contra first',
    ]);
    for (const asked of model.requests) {
      expect(asked).toMatchObject({ samples: 3, temperature: 1, topP: 0.95 });
      expect(told(asked)).toContain('CONTRA: it lacks.');
      expect(told(asked)).toContain('PRO: it fits.');
    }
  });

  test('leaves out verdicts that cannot be read', async () => {
    const sides = parties(['A', '??', 'Well, A or B.'], ['?', 'Status: C', '?']);
    expect(await debate({ ...sides }).evaluate([root], request)).toMatchObject([
      { value: 0.75, unscored: 4 },
    ]);
  });

  test('fails where no verdict can be read, or one side says nothing', async () => {
    const mute = parties([], []);
    expect(await debate({ ...mute }).evaluate([root], request)).toEqual([
      {
        failure: {
          kind: 'parse',
          message: 'Expected one of the codes A, B, C, D, E in each order, got `none`.',
        },
      },
    ]);
    const { model } = parties(['A'], ['A']);
    const debaters = scriptedModel({
      answer: (asked) => (roleOf(told(asked)) === 'advocate' ? 'Yes.' : ' '),
    });
    expect(await debate({ model, debaters }).evaluate([root], request)).toEqual([
      { failure: { kind: 'parse', message: 'Expected an argument of the opponent, got ``.' } },
    ]);
    expect(model.requests).toEqual([]);
  });

  test('of one node that fails leaves those of others alone', async () => {
    const { model } = parties(['A', 'A', 'A'], ['A', 'A', 'A']);
    const debaters = scriptedModel({
      answer: (asked) => {
        if (told(asked).startsWith('Work: lost')) throw new Error('Out of order.');
        return roleOf(told(asked)) === 'advocate' ? 'PRO' : 'CONTRA';
      },
    });
    const nodes = [root, rootNode<string, string>('lost'), rootNode<string, string>('won')];
    expect(await debate({ model, debaters }).evaluate(nodes, request)).toMatchObject([
      { value: 1 },
      { failure: { kind: 'call', message: 'Out of order.' } },
      { value: 1 },
    ]);
  });
});

describe('the options of a debate', () => {
  test('are the codes, the number of verdicts, and one model for all', async () => {
    const model = scriptedModel({
      answer: (asked, index) => {
        const text = told(asked);
        if (text.includes('Argue')) return text.includes('Argue for') ? 'PRO' : 'CONTRA';
        return (orderOf(text) === 'pro first' ? ['A', 'B'] : ['B', 'B'])[index] ?? '';
      },
    });
    const codes = { A: 1, B: 0.7, C: 0.5, D: 0, E: 0 };
    const evaluator = debate({ model, codes, samples: 2 });
    // (1 + 3 · 0.7) / 4
    expect(await evaluator.evaluate([root], request)).toMatchObject([
      { value: expect.closeTo(0.775, 12) as number },
    ]);
    expect(model.completions).toBe(6);
  });

  test('tell the judge and the debaters different things', async () => {
    const { model, debaters } = parties(['A'], ['A']);
    const evaluator = debate({
      model,
      debaters,
      about: 'action',
      promptParts: [{ text: () => 'Lesson for judges.', prompts: { lessons: '1 a' } }],
      debaterParts: [{ text: () => 'Lesson for debaters.', stamps: ['told'] }],
    });
    expect(evaluator).toMatchObject({ needs: 'proposed', stamps: ['told'] });
    expect(Object.keys(evaluator.prompts ?? {})).toEqual(['debate', 'lessons']);
    await evaluator.evaluate(proposals('s', 'jump'), request);
    for (const asked of model.requests) {
      expect(told(asked)).toMatch(/^Work: s\.\n\nLesson for judges\.\n\nProposed step: do jump\n/);
    }
    for (const asked of debaters.requests) {
      expect(told(asked)).toMatch(
        /^Work: s\.\n\nLesson for debaters\.\n\nProposed step: do jump\n/,
      );
    }
  });

  test('shorten long arguments in the rationale only', async () => {
    const long = `PRO ${'word '.repeat(100)}end`;
    const { model } = parties(['A'], ['A']);
    const debaters = scriptedModel({
      answer: (asked) => (roleOf(told(asked)) === 'advocate' ? long : 'CONTRA'),
    });
    const [verdict] = await debate({ model, debaters }).evaluate([root], request);
    const { rationale = '' } = verdict as { rationale?: string };
    expect(rationale.length).toBeLessThan(320);
    expect(rationale).toMatch(/^For: PRO word .*…\nAgainst: CONTRA$/);
    expect(told(model.requests[0] as never)).toContain(long);
  });

  test('are checked', () => {
    const { model } = parties([], []);
    const wrong = [
      { samples: 0 },
      { words: 0 },
      { argumentTokens: 0 },
      { debaters: {} },
      { topP: 2 },
    ];
    for (const options of wrong) {
      const [name = ''] = Object.keys(options);
      expect(() => debate({ model, ...options } as never)).toThrow(`\`${name}\``);
    }
  });
});

describe('a debate under a budget', () => {
  const table = {
    s: { a: { to: 'x' }, b: { to: 'y' }, c: { to: 'z' } },
    x: { on: { to: 'xx' } },
    y: { on: { to: 'yy' } },
    z: { on: { to: 'zz' } },
    xx: { on: { to: 'end' } },
    yy: { on: { to: 'end' } },
    zz: { on: { to: 'end' } },
  };
  const run = async (calls: number) => {
    const sides = parties(['A', 'A', 'C'], ['A', 'A', 'A']);
    const { environment: plain, policy } = tableMdp(table);
    const environment = { ...plain, notation };
    const evaluator = debate({ ...sides });
    const result = await search(environment, {
      policy,
      evaluator,
      algorithm: mcts(),
      budget: { calls },
    });
    const { model, debaters } = sides;
    const judged = [...result.tree.nodes()].filter(({ evaluations }) => evaluations.length > 0);
    return { ...result, judged, completions: model.completions + debaters.completions };
  };

  test('counts two arguments and six verdicts a node', async () => {
    const { spend, judged, completions, stopReason } = await run(24);
    expect(stopReason).toBe('budget');
    expect(judged).toHaveLength(3);
    // (5 · 1 + 0.5) / 6
    for (const { rawValue } of judged) expect(rawValue).toBeCloseTo(5.5 / 6, 12);
    expect(completions).toBe(24);
    expect(spend.calls).toBe(24);
  });

  test('reserves calls before they are made, so that none is beyond it', async () => {
    // Two nodes take 16 calls, the arguments of a third 2; one order of three verdicts fits, the other does not.
    const { spend, judged, completions, stopReason } = await run(22);
    expect(stopReason).toBe('budget');
    expect(judged).toHaveLength(2);
    expect(completions).toBe(21);
    expect(spend.calls).toBe(21);
  });
});
