/** Random searches, of which everything is compared: as they stand, and saved and loaded. */
import assert from 'node:assert/strict';
import { pairRules, type TreeRecord } from '../../src/data/index.ts';
import {
  abMcts,
  astar,
  beam,
  bestFirst,
  bestOfN,
  descend,
  type Environment,
  type Evaluation,
  type Evaluator,
  explain,
  flat,
  lats,
  mcts,
  mixedWithEvaluation,
  type Notation,
  type Policy,
  progressiveWidening,
  puct,
  type Random,
  type SearchAlgorithm,
  type SearchTree,
  seededRandom,
  stepwise,
  thompson,
  treeFromJson,
  treeToJson,
  uct,
  valueWidening,
} from '../../src/index.ts';
import { searchOf } from '../support/search-of.ts';

type Tree = SearchTree<string, string>;

const notation: Notation<string, string> = {
  prompt: (state) => [{ role: 'user', content: `So far: ${state}.` }],
  format: (action) => action,
  parse: (text) => ({ action: text }),
};

/** A number in [0, 1) that is fixed by its labels. */
type Fixed = (...labels: readonly string[]) => number;

/** A problem in which everything may happen: rewards, ends without any, equal states, failures of each kind. */
function problemOf(fixed: Fixed, random: Random) {
  const width = 2 + random.integer(3);
  const depth = 2 + random.integer(3);
  const rewards = random.next();
  const broken = random.next() < 0.5 ? 0 : 0.1;
  const environment: Environment<string, string> = {
    name: 'anything',
    reset: () => ({ state: 's' }),
    step(state, action) {
      const label = `${state}/${action}`;
      if (fixed('breaks', label) < broken) throw new Error('It broke.');
      // Some actions come to what another one came to.
      const next = fixed('twin', label) < 0.2 ? `${state}/twin` : label;
      const terminal = next.split('/').length > depth || fixed('ends', next) < 0.1;
      const answer = fixed('answers', next) < 0.1;
      const isRewarded = fixed('is rewarded', next) < rewards;
      return {
        state: next,
        terminal,
        answer,
        ...(isRewarded && { reward: fixed('reward', next) / (2 * (depth + 2)) }),
      };
    },
    key: (state) => state,
    notation,
  };
  const policy: Policy<string, string> = {
    propose: ({ state = '' }, { count, offset }) =>
      Array.from({ length: Math.min(count, width) }, (_, place) => {
        const index = offset + place;
        const failure = { kind: 'parse', message: `Expected a move, got ${index}.` } as const;
        if (fixed('unreadable', state, `${index}`) < broken) return { failure };
        const action = String.fromCharCode(97 + (index % (width + 1)));
        const completion = { text: action, callId: `${state} ${index}` };
        return { action, prior: fixed('prior', state, action) / width, completion };
      }),
  };
  return { environment, policy };
}

function evaluatorOf(fixed: Fixed, random: Random): Evaluator<string, string> {
  const about = random.next() < 0.5 ? ('action' as const) : ('state' as const);
  const plays = about === 'action' || random.next() < 0.3;
  const broken = random.next() < 0.7 ? 0 : 0.1;
  const say =
    (what: string, more: Partial<Evaluation>): Evaluator<string, string>['evaluate'] =>
    (nodes) =>
      nodes.map(({ parent, action = '', state }) => {
        const label = about === 'action' ? `${parent?.state}/${action}` : `${state}`;
        if (fixed(what, 'fails', label) < broken)
          return { failure: { kind: 'call', message: 'Busy.' } };
        // A path's rewards and its value stay within 1 together, as beta beliefs need.
        const value = fixed(what, label) / 2;
        return { value, parts: { half: value / 2 }, rationale: label, ...more };
      });
  return {
    needs: about === 'action' ? 'proposed' : 'realised',
    evaluate: say('value', about === 'action' ? { about } : {}),
    ...(plays && { simulate: say('return', {}) }),
  };
}

function algorithmOf(random: Random): SearchAlgorithm {
  const pick = <Item>(...items: readonly Item[]): Item =>
    items[random.integer(items.length)] as Item;
  const rule = pick(
    puct({ cBase: pick(Number.POSITIVE_INFINITY, 100) }),
    uct({ c: random.next() }),
    uct({ pseudoVisits: 1, qtransform: mixedWithEvaluation(random.next()) }),
    thompson(),
  );
  const agentQ = mcts({
    selection: descend(uct({ c: 1, pseudoVisits: 1, qtransform: mixedWithEvaluation(0.5) })),
    ...({ evaluate: 'all', rollout: true, width: 3 } as const),
  });
  const widening = pick(undefined, undefined, progressiveWidening({ k: 2 }), valueWidening());
  const tree = mcts({
    selection: pick(
      descend(rule),
      descend(rule, { ties: 'random' }),
      flat(({ value }) => value),
    ),
    evaluate: pick('one', 'all', 'leaf'),
    width: pick(2, 3),
    maxDepth: pick(3, 64),
    ...(widening && { widening }),
  });
  return pick(
    agentQ,
    agentQ,
    tree,
    tree,
    tree,
    stepwise(tree, { simulations: 5 }),
    bestOfN(),
    beam({ width: 2, select: pick('best', 'sample'), batch: pick('node', 'level') }),
    bestFirst({ order: pick('value', 'depth'), width: 2 }),
    lats({ width: 2 }),
    abMcts(),
    astar({ heuristic: (state: unknown) => (String(state).endsWith('a') ? 2 : 1) }),
  );
}

/** All that a tree has to say. */
function saying(tree: Tree): unknown {
  const record: TreeRecord<string, string> = { problem: 'p', tree, notation, correctFrom: 0.3 };
  const rules = [pairRules.agentQ({}), pairRules.toolPreference(), pairRules.stepDpo()];
  return {
    best: tree.best.id,
    answer: tree.best.state,
    score: tree.score(tree.best),
    conclusion: tree.conclusion && { ...tree.conclusion, node: tree.conclusion.node.id },
    rows: rules.map((rule) => [...rule.rows([record])]),
    reasons:
      tree.rule?.name === 'descend' ? [...tree.nodes()].map((node) => reasons(tree, node.id)) : [],
    simulations: [...tree.log],
    json: treeToJson(tree),
  };
}

function reasons(tree: Tree, id: number): unknown {
  return explain(tree, tree.node(id)).map(({ node, total, terms }) => [node.id, total, terms]);
}

/** Asserts that a random saved and loaded, is the search that was saved, and goes on as that does. */
export async function expectWhole(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const fixed: Fixed = (...labels) => seededRandom(`${seed} ${labels.join(' ')}`).next();
  const options = {
    ...problemOf(fixed, random),
    evaluator: evaluatorOf(fixed, random),
    algorithm: algorithmOf(random),
    discount: [1, 0.9, 0.5][random.integer(3)] ?? 1,
    seed,
    concurrency: 1 + random.integer(3),
  };
  const first = 1 + random.integer(12);
  const { tree } = await searchOf({ ...options, budget: { simulations: first } });
  const loaded = treeFromJson<string, string>(JSON.stringify(treeToJson(tree)));
  assert.deepEqual(saying(loaded), saying(tree), 'as it stands');
  assert.deepEqual(saying(loaded.fork()), saying(tree.fork()), 'as a copy');

  const budget = { simulations: 1 + random.integer(20) };
  const live = await searchOf({ ...options, tree, budget });
  const other = await searchOf({ ...options, tree: loaded, budget });
  assert.equal(other.stopReason, live.stopReason);
  assert.deepEqual(saying(other.tree), saying(live.tree), 'as it goes on');
}
