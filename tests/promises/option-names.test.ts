import { describe, expect, test } from 'vitest';
import {
  abMcts,
  astar,
  beam,
  bestOfN,
  byMinMax,
  completedByMixValue,
  depthFirst,
  descend,
  type Environment,
  flat,
  lats,
  mcts,
  progressiveWidening,
  puct,
  renderTree,
  search,
  solved,
  stepwise,
  summarise,
  tdBackup,
  thompson,
  uct,
  valueWidening,
  virtualLoss,
  visitWeighted,
  withReflection,
} from '../../src/index.ts';
import { contrastive, inMemoryStore, lessons, memory } from '../../src/memory/index.ts';
import { methods } from '../../src/methods/index.ts';
import {
  fromModel,
  greedy,
  introspective,
  mostFrequent,
  multiAction,
  multiModel,
  planStep,
  selfRefine,
  siblings,
  subQuestion,
} from '../../src/policies/index.ts';
import { generate } from '../../src/runs/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import {
  criticRanking,
  debate,
  ensemble,
  heuristic,
  judge,
  orm,
  prm,
  progress,
  rollout,
  selfConsistency,
  selfEval,
  staged,
  verifier,
  withSimulation,
} from '../../src/values/index.ts';

const model = scriptedModel({ answer: () => 'a' });
const memories = memory({ store: inMemoryStore() });
const policy = fromModel({ model });
const half = heuristic(() => 0.5);
const slip = { notation: {} } as object;

/** Each part with an option that it once had, or never. */
const parts: Readonly<Record<string, () => unknown>> = {
  abMcts: () => abMcts(slip),
  astar: () => astar(slip),
  beam: () => beam(slip),
  bestOfN: () => bestOfN(slip),
  depthFirst: () => depthFirst(slip),
  lats: () => lats(slip),
  mcts: () => mcts(slip),
  stepwise: () => stepwise(mcts(), { simulations: 1, ...slip }),
  withReflection: () => withReflection(mcts(), { reflect: async () => {}, ...slip }),
  fromModel: () => fromModel({ model, ...slip }),
  introspective: () => introspective({ model, ...slip }),
  siblings: () => siblings(slip),
  multiAction: () => multiAction({ model, ...slip }),
  multiModel: () => multiModel({ arms: { one: policy }, ...slip }),
  mostFrequent: () => mostFrequent(policy, slip),
  planStep: () => planStep({ model, ...slip }),
  selfRefine: () => selfRefine({ model, ...slip }),
  subQuestion: () => subQuestion({ model, ...slip }),
  greedy: () => greedy({ actions: () => [], score: () => 0, ...slip }),
  judge: () => judge({ model, ...slip }),
  debate: () => debate({ model, ...slip }),
  selfEval: () => selfEval({ model, ...slip }),
  criticRanking: () => criticRanking({ model, ...slip }),
  selfConsistency: () => selfConsistency({ policy, ...slip }),
  prm: () => prm({ model: {} as never, ...slip }),
  orm: () => orm({ model: {} as never, ...slip }),
  progress: () => progress({ value: half, ...slip }),
  rollout: () => rollout({ policy, ...slip }),
  withSimulation: () => withSimulation(half, half, slip),
  ensemble: () => ensemble({ parts: [], ...slip }),
  staged: () =>
    staged({
      fast: { name: 'a', evaluator: half },
      accurate: { name: 'b', evaluator: half },
      ...slip,
    }),
  lessons: () => lessons({ memory: memories, kind: 'policy', ...slip }),
  contrastive: () => contrastive({ model, memory: memories, ...slip }),
  byMinMax: () => byMinMax({ min: 0, max: 1, ...slip }),
  completedByMixValue: () => completedByMixValue(slip),
  descend: () => descend(uct(), slip),
  flat: () => flat(() => 0, slip),
  progressiveWidening: () => progressiveWidening(slip),
  puct: () => puct(slip),
  renderTree: () => renderTree({} as never, slip),
  solved: () => solved(slip),
  summarise: () => summarise({} as never, slip),
  tdBackup: () => tdBackup(slip),
  thompson: () => thompson(slip),
  uct: () => uct(slip),
  valueWidening: () => valueWidening(slip),
  virtualLoss: () => virtualLoss(slip),
  visitWeighted: () => visitWeighted(slip),
  generate: () => generate({ run: {}, problems: [], plan: () => ({}), ...slip } as never),
};

describe('an option that nobody knows', () => {
  test.each(Object.entries(parts))('is refused by %s', (name, make) => {
    expect(make).toThrow(`\`${name}\` has no option \`notation\`. `);
  });

  test.each(methods.map((entry) => [entry.name, entry] as const))(
    'is refused by the method %s',
    (_name, { create }) => {
      expect(() => create({ model, maxTokns: 3 } as never)).toThrow(
        / has no option `maxTokns`\. Did you mean `maxTokens`\?$/,
      );
    },
  );

  test('is refused with the nearest name, or with all where none is near', () => {
    expect(() => mcts({ widht: 3 } as object)).toThrow(
      '`mcts` has no option `widht`. Did you mean `width`?',
    );
    expect(() => stepwise(mcts(), { simulations: 1, γ: 1 } as never)).toThrow(
      '`stepwise` has no option `γ`. It has simulations, choice, maxSteps.',
    );
  });
});

describe('a search without a notation', () => {
  const bare: Environment<string, string> = {
    name: 'bare',
    reset: () => ({ state: '' }),
    step: (state, action) => ({ state: state + action }),
  };
  const inParts = {
    policy: mostFrequent(multiModel({ arms: { one: planStep({ model }) } })),
    evaluator: withSimulation(half, rollout({ policy, evaluator: judge({ model }) })),
  };

  test('is refused before anything is spent, with the names of the parts that need one', async () => {
    await expect(search(bare, inParts)).rejects.toThrow(
      'Expected the environment bare to have a `notation`: `fromModel` and `judge` cannot show its states to a model without.',
    );
    for (const { create } of methods) {
      await expect(search(bare, { method: create({ model }) })).rejects.toThrow('a `notation`');
    }
    expect(model.requests).toHaveLength(0);
  });

  test('goes on where nobody shows states to a model', async () => {
    const { tree } = await search(bare, {
      policy: () => [{ action: 'a' }],
      evaluator: verifier({ verify: () => ({ correct: false }) }),
      budget: { simulations: 3 },
    });
    expect(tree.size).toBeGreaterThan(1);
  });

  test('that is none is refused too', async () => {
    const environment = { ...bare, notation: { prompt: () => [] } as never };
    await expect(search(environment, { policy, evaluator: half })).rejects.toThrow(
      'Expected `environment.notation` to be an object with a method `format`',
    );
  });
});
