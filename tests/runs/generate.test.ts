import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { EspalierError, ModelCallError } from '../../src/base/errors.ts';
import type { LanguageModel } from '../../src/contracts/language-model.ts';
import type { SearchNode } from '../../src/contracts/node.ts';
import type { Policy, ProposeRequest } from '../../src/contracts/policy.ts';
import * as formats from '../../src/data/formats/formats.ts';
import { mathShepherd } from '../../src/data/labels/math-shepherd.ts';
import type { TreeRecord } from '../../src/data/record.ts';
import { writeDataset } from '../../src/data/writers/write-dataset.ts';
import { fromModel } from '../../src/policies/from-model/from-model.ts';
import {
  type GenerateOptions,
  generate,
  openRun,
  readRecords,
  readRun,
} from '../../src/runs/index.ts';
import { mcts } from '../../src/search/algorithms/mcts.ts';
import { type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-generate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Problem {
  readonly id: string;
}

const problems: readonly Problem[] = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'].map((id) => ({ id }));
const notation = {
  prompt: (state: string) => [{ role: 'user' as const, content: `After "${state}"` }],
  format: (action: string) => action,
};

/** Two words are added to the name of the problem; the right end has twice the same. */
function planWith(model: LanguageModel) {
  return ({ id }: Problem) => ({
    environment: {
      name: 'words',
      reset: () => ({ state: id }),
      step: (state: string, action: string) => {
        const next = `${state} ${action}`;
        const [, first, second] = next.split(' ');
        const terminal = second !== undefined;
        return { state: next, ...(terminal && { terminal, reward: first === second ? 1 : 0 }) };
      },
    },
    policy: {
      async propose(node: SearchNode<string, string>, { context, count, offset }: ProposeRequest) {
        const messages = notation.prompt(node.state ?? '');
        const { completions } = await context.generate(model, { messages, samples: count, offset });
        return completions.map((completion) => ({ action: completion.text, completion }));
      },
    },
    evaluator: {
      needs: 'realised' as const,
      evaluate: (nodes: readonly unknown[]) => nodes.map(() => ({ value: 0.5 })),
    },
    algorithm: mcts({ width: 2 }),
    budget: { calls: 20 },
    order: 'issued' as const,
  });
}

function words(latencyMs = 0): ScriptedModel {
  return scriptedModel({ answer: (_request, index) => `w${index}`, latencyMs });
}

type Options = GenerateOptions<Problem, string, string>;

async function runIn(name: string, model: LanguageModel, options: Partial<Options> = {}) {
  using run = openRun(join(folder, name));
  return await generate<Problem, string, string>({
    run,
    problems,
    plan: planWith(model),
    ...options,
  });
}

test('every problem gets a tree, and a second session does nothing', async () => {
  const model = words();
  const report = await runIn('whole', model);
  expect(report).toMatchObject({
    stopReason: 'finished',
    total: 6,
    done: 6,
    solved: 6,
    unfinished: 0,
  });
  const made = model.requests.length;
  expect(report.spend.calls).toBe(
    readRun(join(folder, 'whole')).outcomes.reduce((n, o) => n + o.spend.calls, 0),
  );
  const again = await runIn('whole', model);
  expect(again).toMatchObject({
    stopReason: 'finished',
    done: 6,
    spend: { calls: report.spend.calls },
  });
  expect(model.requests.length).toBe(made);
});

test('models without a known price are named, in later sessions too', async () => {
  const unknown = ['scripted:script'];
  const first = await runIn('unpriced', words(), { problems: problems.slice(0, 2) });
  expect([first.spend.usd, first.unpriced]).toEqual([0, unknown]);
  const again = await runIn('unpriced', words(), { problems: problems.slice(0, 2) });
  expect(again).toMatchObject({ stopReason: 'finished', unpriced: unknown });
  // The one search of this run has not come to its end.
  const budget = { calls: 3 };
  const short = await runIn('unpriced-short', words(), { budget, concurrency: 1 });
  expect(short).toMatchObject({ stopReason: 'budget', done: 0, unpriced: unknown });
  const free = { ...words(), price: { input: 0, output: 0 } };
  expect((await runIn('free', free)).unpriced).toEqual([]);
});

test('records come in the order of the problems, with the trees that were saved', () => {
  const saved = readRun(join(folder, 'whole'));
  const order = problems.map(({ id }) => id).toReversed();
  const records = [...readRecords(saved, { problems: order, describe: () => ({ notation }) })];
  expect(records.map(([record]) => record?.problem)).toEqual(order);
  expect(records.map(([record]) => record?.tree.root.state)).toEqual(order);
  const some = readRecords(saved, { describe: (id) => (id === 'p2' ? { notation } : undefined) });
  expect([...some].map(([record]) => record?.id)).toEqual(['p2']);
});

test('rows of a run say who grew its trees, and the card which file they stand in', async () => {
  const model = words();
  const plan = (problem: Problem) => ({
    ...planWith(model)(problem),
    environment: {
      ...planWith(model)(problem).environment,
      notation: { ...notation, parse: (text: string) => ({ action: text }) },
    },
    policy: fromModel<string, string>({ model }),
  });
  await runIn('told', model, { problems: problems.slice(0, 2), plan });
  const path = join(folder, 'told');
  const read = (own: object = {}) =>
    readRecords<string, string>(readRun(path), { describe: () => ({ notation, ...own }) });
  const [[record] = []] = read();
  expect(record).toMatchObject({ method: 'mcts', models: ['scripted:script'] });
  const [[described] = []] = read({ method: 'mine', models: ['a:b'] });
  expect(described).toMatchObject({ method: 'mine', models: ['a:b'] });
  const out = join(folder, 'told-data');
  const configs = [{ rule: mathShepherd(), format: formats.trl() }];
  await writeDataset({ out, problems: read() as Iterable<readonly TreeRecord[]>, configs });
  const card = readFileSync(join(out, 'README.md'), 'utf8');
  expect(card).toMatch(
    /\| told\/trees.jsonl \| `[\da-f]{64}` \| espalier, mcts, scripted\\:script \|/,
  );
});

test('several attempts at a problem are several trees of it', async () => {
  const plan = planWith(words());
  using run = openRun(join(folder, 'attempts'));
  const report = await generate({
    run,
    problems: problems.slice(0, 2),
    attempts: 3,
    plan: (problem: Problem, attempt: number) => ({ ...plan(problem), seed: attempt }),
  });
  expect(report).toMatchObject({ total: 6, done: 6 });
  const records = [...readRecords(readRun(run.path), { describe: () => ({ notation }) })];
  const ids = records.flatMap((trees) => trees.map(({ id, tree }) => [id, tree.origin.seed]));
  expect(ids).toEqual([
    ['p0', 0],
    ['p0#1', 1],
    ['p0#2', 2],
    ['p1', 0],
    ['p1#1', 1],
    ['p1#2', 2],
  ]);
});

test('no more searches are under way than were asked for', async () => {
  let most = 0;
  const model = words(1);
  await runIn('few', model, {
    concurrency: 2,
    onProgress: ({ running }) => {
      most = Math.max(most, running);
    },
  });
  expect(most).toBe(2);
  expect(model.mostInFlight).toBeLessThanOrEqual(2);
});

test('a budget for all ends the run, and a larger one lets it go on without paying twice', async () => {
  const whole = await runIn('free', words());
  const model = words();
  const short = await runIn('short', model, { budget: { calls: 8 }, concurrency: 1 });
  expect(short.stopReason).toBe('budget');
  expect(short.spend.calls).toBeLessThanOrEqual(8);
  expect(short.done + short.unfinished).toBe(6);
  expect(short.done).toBeGreaterThan(0);
  expect(short.unfinished).toBeGreaterThan(0);
  const rest = await runIn('short', model, { budget: { calls: 1000 }, concurrency: 1 });
  expect(rest).toMatchObject({
    stopReason: 'finished',
    done: 6,
    spend: { calls: whole.spend.calls },
  });
  expect(model.completions).toBe(whole.spend.calls);
  expect(readFileSync(join(folder, 'short', 'trees.jsonl'), 'utf8')).toBe(
    readFileSync(join(folder, 'free', 'trees.jsonl'), 'utf8'),
  );
});

test('an end that was asked for leaves whole trees, and the rest goes on later', async () => {
  let finished = 0;
  const stopped = await runIn('stopped', words(1), {
    concurrency: 2,
    stopWhen: () => finished >= 2,
    onProgress: ({ done }) => {
      finished = done;
    },
  });
  expect(stopped.stopReason).toBe('stopped');
  expect(stopped.done).toBeGreaterThanOrEqual(2);
  expect(stopped.unfinished).toBe(6 - stopped.done);
  expect(await runIn('stopped', words())).toMatchObject({ stopReason: 'finished', done: 6 });
});

test('a search that a refused call ends after that has not failed, and goes on later', async () => {
  const script = words(1);
  let asked = 0;
  const refusing: LanguageModel = {
    ...script,
    generate: (request, call) => {
      if (++asked > 5) throw new EspalierError('unavailable', 'Ended by Ctrl-C.');
      return script.generate(request, call);
    },
  };
  const stopped = await runIn('refused', refusing, { stopWhen: () => asked > 5 });
  expect([stopped.stopReason, stopped.failed]).toEqual(['stopped', []]);
  // What was refused was not asked.
  expect(stopped.spend.calls).toBe(script.completions);
  const again = words();
  expect(await runIn('refused', again)).toMatchObject({ stopReason: 'finished', done: 6 });
  const whole = words();
  await runIn('unrefused', whole);
  expect(again.completions).toBe(whole.completions - script.completions);
});

test('a listener that throws between two searches ends the run', async () => {
  let told = 0;
  const slow = runIn('deaf', words(1500), {
    onProgress: () => {
      if (++told > 4) throw new Error('I do not want to hear it.');
    },
    concurrency: 4,
  });
  await expect(slow).rejects.toThrow('I do not want to hear it.');
});

test('a caller that aborts gets its reason; what is done stays', async () => {
  const controller = new AbortController();
  const running = runIn('aborted', words(2), {
    concurrency: 1,
    signal: controller.signal,
    onProgress: ({ done }) => {
      if (done === 2) controller.abort(new Error('enough'));
    },
  });
  await expect(running).rejects.toThrow('enough');
  expect(readRun(join(folder, 'aborted')).outcomes).toHaveLength(2);
  expect(await runIn('aborted', words())).toMatchObject({ stopReason: 'finished', done: 6 });
});

/** A model that fails one problem, until it is mended. */
function failingModel(error: Error) {
  const model = {
    broken: true,
    ...scriptedModel({
      answer: ({ messages }, index) => {
        if (model.broken && messages[0]?.content.includes('p3')) throw error;
        return `w${index}`;
      },
    }),
  };
  return model;
}

test('a problem that fails is listed, the others are searched, and it is retried on request', async () => {
  const model = failingModel(new ModelCallError({ kind: 'bad-request', message: 'Too long.' }));
  const report = await runIn('failing', model);
  expect(report).toMatchObject({ stopReason: 'finished', done: 5, unfinished: 0 });
  expect(report.failed).toMatchObject([{ problem: 'p3', status: 'failed' }]);
  expect(report.failed[0]?.reason).toContain('Too long.');
  model.broken = false;
  expect(await runIn('failing', model)).toMatchObject({ done: 5, failed: [{ problem: 'p3' }] });
  expect(await runIn('failing', model, { retryFailed: true })).toMatchObject({
    done: 6,
    failed: [],
  });
  expect(readRun(join(folder, 'failing')).trees).toHaveLength(6);
});

const outages: [string, Error][] = [
  ['gone', new EspalierError('unavailable', 'The server is gone.')],
  ['busy', new ModelCallError({ kind: 'overloaded', message: 'The server is busy.' })],
];

test.each(outages)(
  'a problem that failed because the server was %s goes on by itself',
  async (name, error) => {
    const model = failingModel(error);
    const report = await runIn(name, model);
    expect(report).toMatchObject({ stopReason: 'finished', done: 5, unfinished: 0 });
    expect(report.failed).toMatchObject([{ problem: 'p3', status: 'failed' }]);
    expect(report.failed[0]?.reason).toContain(error.message);
    model.broken = false;
    expect(await runIn(name, model)).toMatchObject({ done: 6, failed: [] });
    expect(readRun(join(folder, name)).trees).toHaveLength(6);
  },
);

test.each(outages)(
  'a search begins anew on request if its server, once %s, refused the call since',
  async (how, outage) => {
    const name = `refused after ${how}`;
    let error: Error | undefined = outage;
    const model = scriptedModel({
      answer: (_request, index) => {
        if (error !== undefined) throw error;
        return `w${index}`;
      },
    });
    const one = { problems: problems.slice(0, 1) };
    expect((await runIn(name, model, one)).failed).toHaveLength(1);
    error = new ModelCallError({ kind: 'bad-request', message: 'Too long.' });
    const refused = await runIn(name, model, one);
    expect(refused.failed[0]?.reason).toContain('Too long.');
    error = undefined;
    expect(await runIn(name, model, { ...one, retryFailed: true })).toMatchObject({ done: 1 });
  },
);

test('a search that failed with what it was told begins anew, and its journal is kept', async () => {
  let useless = true;
  const model = scriptedModel({ answer: (_request, index) => (useless ? '' : `w${index}`) });
  const plan = planWith(model);
  const failing = {
    problems: problems.slice(0, 1),
    plan: ((problem: Problem) => {
      const { policy, ...rest } = plan(problem);
      const propose: Policy<string, string>['propose'] = async (node, request) =>
        (await policy.propose(node, request)).map((proposal) =>
          proposal.action === ''
            ? ({ failure: { kind: 'empty', message: 'Nothing.' } } as const)
            : proposal,
        );
      return { ...rest, policy: { propose } };
    }) satisfies Options['plan'],
  };
  const first = await runIn('useless', model, failing);
  expect(first.failed).toHaveLength(1);
  useless = false;
  const second = await runIn('useless', model, { ...failing, retryFailed: true });
  expect(second).toMatchObject({ done: 1, failed: [] });
  const journals = readdirSync(join(folder, 'useless', 'journals'));
  expect(journals.filter((name) => name.includes('failed-1'))).toHaveLength(1);
  expect(second.spend.calls).toBeGreaterThan(first.spend.calls);
});

test('one failure after the other ends the run', async () => {
  const model = scriptedModel({
    answer: () => {
      throw new EspalierError('unavailable', 'The server is gone.');
    },
  });
  const report = await runIn('dead', model, { concurrency: 1, maxFailuresInARow: 3 });
  expect(report).toMatchObject({ stopReason: 'failing', done: 0, unfinished: 3 });
  expect(report.failed).toHaveLength(3);
});

test('names of problems are no paths', async () => {
  const id = '../../escape\n"\u0000';
  const report = await runIn('names', words(), { problems: [{ id }] });
  expect(report.done).toBe(1);
  expect(readRun(join(folder, 'names')).trees[0]?.problem).toBe(id);
  expect(readdirSync(folder)).not.toContain('escape');
  expect(existsSync(join(folder, '..', 'escape'))).toBe(false);
});

test.each([
  [{ attempts: 0 }, 'Expected `attempts` to be an integer from 1 up, got `0`.'],
  [{ concurrency: 1.5 }, 'Expected `concurrency` to be an integer from 1 up, got `1.5`.'],
  [
    { problems: [{ id: 'a' }, { id: 'a' }] },
    'Expected `problems` to have unique ids, got `"a"` twice.',
  ],
])('refuses %o', async (options, message) => {
  await expect(runIn('refused', words(), options)).rejects.toThrow(message);
});

test('a tree that cannot be saved fails its problem, which says what was spent', async () => {
  const plan = (problem: Problem) => {
    const { environment, ...rest } = planWith(words())(problem);
    const step = (state: string, action: string) => {
      const next = environment.step(state, action);
      return { ...next, state: Object.assign(() => 1, { text: next.state }) as unknown as string };
    };
    return { ...rest, environment: { ...environment, step } };
  };
  const report = await runIn('unsavable', words(), { problems: [{ id: 'p0' }], plan });
  expect(report.failed).toMatchObject([
    { reason: expect.stringMatching(/^Expected `nodes\.1\.state` to be JSON/) as string },
  ]);
  expect(report.spend.calls).toBeGreaterThan(0);
  expect(report.failed[0]?.spend.calls).toBe(report.spend.calls);
});
