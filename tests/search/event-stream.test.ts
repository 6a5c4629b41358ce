import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, test } from 'vitest';
import {
  type Environment,
  EspalierError,
  mcts,
  type SearchEventJson,
  search,
  solved,
  streamSearch,
  treeFromJson,
  treeToJson,
} from '../../src/index.ts';
import { eventToJson } from '../../src/search/event-json.ts';
import { scriptedModel } from '../../src/testing/index.ts';

interface Rung {
  readonly height: number;
}

/** Three steps up solve it. */
const ladder: Environment<Rung, 'up' | 'down'> = {
  name: 'ladder',
  reset: () => ({ state: { height: 0 } }),
  step({ height }, action) {
    const next = height + (action === 'up' ? 1 : -1);
    const isEnd = Math.abs(next) === 3;
    return { state: { height: next }, ...(isEnd && { terminal: true, reward: next > 0 ? 1 : 0 }) };
  },
  answer: ({ height }) => (height === 3 ? { reached: height } : undefined),
};
const options = {
  policy: () => [{ action: 'up' }, { action: 'down' }] as const,
  evaluator: ({ state }: { readonly state: Rung }) => (state.height + 3) / 6,
  algorithm: mcts(),
  budget: { simulations: 100 },
  stopWhen: solved(),
};

test('a result has what its best node answers', async () => {
  const { answer } = await search(ladder, options);
  expect(answer).toEqual({ reached: 3 });
  const short = await search(ladder, { ...options, budget: { simulations: 1 } });
  expect(short.answer).toBeUndefined();
});

test('an answer that throws leaves what was found', async () => {
  const broken = {
    ...ladder,
    answer: () => {
      throw new Error('No.');
    },
  };
  const { answer, actions } = await search(broken, options);
  expect([answer, actions]).toEqual([undefined, ['up', 'up', 'up']]);
});

describe('a stream', () => {
  test('runs to its end where only its result is asked for', async () => {
    const { actions } = await streamSearch(ladder, options).result;
    expect(actions).toEqual(['up', 'up', 'up']);
  });

  test('runs to its end where its JSON is asked for and never read', async () => {
    const stream = streamSearch(ladder, options);
    stream.json();
    const { actions } = await stream.result;
    expect(actions).toEqual(['up', 'up', 'up']);
  });

  test.each(['before', 'after'])('tells all where its result is asked for %s', async (order) => {
    const stream = streamSearch(ladder, options);
    const [early] = order === 'before' ? [stream.result] : [];
    const events = stream.json();
    const result = early ?? stream.result;
    const types: string[] = [];
    for await (const { type } of events) types.push(type);
    expect([types[0], types.at(-1)]).toEqual(['search-start', 'search-end']);
    expect((await result).actions).toEqual(['up', 'up', 'up']);
  });

  test('begins with its start, also where the problem was set by a call', async () => {
    const model = scriptedModel({ answer: () => 'Climb.' });
    const messages = [{ role: 'user' as const, content: 'What is there to do?' }];
    const asked: typeof ladder = {
      ...ladder,
      async reset(context) {
        await context.generate(model, { messages });
        return { state: { height: 0 } };
      },
    };
    const types: string[] = [];
    for await (const { type } of streamSearch(asked, options)) types.push(type);
    expect(types.slice(0, 2)).toEqual(['search-start', 'call-end']);
  });

  test('has the result of its last event', async () => {
    const stream = streamSearch(ladder, options);
    let last: unknown;
    for await (const event of stream) last = event.type === 'search-end' && event.result;
    expect(await stream.result).toBe(last);
  });

  test.each([
    ['before it has begun', 0],
    ['in the middle', 3],
  ])('rejects its result where the reader leaves %s', async (_when, events) => {
    const stream = streamSearch(ladder, { ...options, stopWhen: () => false });
    for (let read = 0; read < events; read++) await stream.next();
    await stream.return();
    const error: unknown = await stream.result.catch((thrown: unknown) => thrown);
    expect(EspalierError.isInstance(error) && `${error.code}: ${error.message}`).toBe(
      'usage: The reader left the stream. For a result, read it to its end, or await `result` alone.',
    );
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  test('throws what a search throws, to the reader and in the result', async () => {
    const wrong = { ...options, budget: { simulations: -1 } };
    const stream = streamSearch(ladder, wrong);
    await expect(stream.next()).rejects.toThrow('budget.simulations');
    await expect(stream.result).rejects.toThrow('budget.simulations');
    await expect(streamSearch(ladder, wrong).result).rejects.toThrow('budget.simulations');
  });

  test('is left before the first event of its JSON is read', async () => {
    const stream = streamSearch(ladder, options);
    await stream.json().return(undefined);
    await expect(stream.result).rejects.toThrow('The reader left the stream.');
  });

  test('is disposed of where a block ends', async () => {
    const stream = streamSearch(ladder, options);
    {
      await using reader = stream;
      await reader.next();
    }
    await expect(stream.result).rejects.toThrow('The reader left the stream.');
  });
});

describe('a stream that is left while its reader waits for a call', () => {
  function calling() {
    const model = scriptedModel({ answer: () => '', latencyMs: Number.POSITIVE_INFINITY });
    const stream = streamSearch(ladder, {
      ...options,
      async policy(_node, { context }) {
        await context.generate(model, { messages: [{ role: 'user', content: 'Up?' }] });
        return [];
      },
    });
    return { model, stream };
  }
  const inFlight = ({ model }: ReturnType<typeof calling>) =>
    expect.poll(() => model.inFlight, { timeout: 2000 });

  test.each([
    ['events', 'return'],
    ['events', 'throw'],
    ['events', 'dispose'],
    ['JSON', 'return'],
    ['JSON', 'throw'],
    ['JSON', 'dispose'],
  ] as const)('aborts the call: %s, by %s', async (form, way) => {
    const run = calling();
    const { stream } = run;
    const reader: AsyncGenerator<unknown> = form === 'JSON' ? stream.json() : stream;
    await reader.next(); // `search-start`
    await reader.next(); // `simulation-start`
    const pending = reader.next();
    await inFlight(run).toBe(1);
    if (way === 'return') expect(await reader.return(undefined)).toMatchObject({ done: true });
    if (way === 'throw')
      await expect(reader.throw(new Error('Enough.'))).rejects.toThrow('Enough.');
    if (way === 'dispose') await reader[Symbol.asyncDispose]();
    expect(run.model.inFlight).toBe(0);
    expect(await pending).toEqual({ done: true, value: undefined });
    await expect(stream.result).rejects.toThrow('The reader left the stream.');
  });

  test('aborts the call of a pipeline whose receiver closes', async () => {
    const run = calling();
    const receiver = new Writable({ objectMode: true, write: (_event, _encoding, done) => done() });
    const piped = pipeline(Readable.from(run.stream.json()), receiver);
    await inFlight(run).toBe(1);
    receiver.destroy();
    await expect(piped).rejects.toThrow('Premature close');
    await inFlight(run).toBe(0);
  });
});

describe('events as JSON', () => {
  async function told(environment: Environment<Rung, 'up' | 'down'>): Promise<SearchEventJson[]> {
    const events: SearchEventJson[] = [];
    for await (const event of streamSearch(environment, options).json()) events.push(event);
    return events;
  }

  test('are JSON, and their nodes are those of the saved tree', async () => {
    const events = await told(ladder);
    expect(JSON.parse(JSON.stringify(events))).toEqual(JSON.parse(JSON.stringify(events)));
    const { tree, best, spend } = await search(ladder, options);
    const [first] = events;
    expect(first).toMatchObject({
      type: 'search-start',
      tree: { nodes: [{ state: { height: 0 } }] },
    });
    const last = events.at(-1);
    if (last?.type !== 'search-end') throw new Error('No end.');
    expect(last.result).toMatchObject({
      ...{ answer: { reached: 3 }, solved: true, actions: ['up', 'up', 'up'] },
      best: { id: best.id, depth: 3, ...treeToJson(tree).nodes[best.id] },
      spend: { simulations: spend.simulations },
    });
    expect(Object.keys(last.result)).not.toContain('tree');
    const expanded = events.find(({ type }) => type === 'node-expanded');
    expect(expanded).toMatchObject({
      node: { id: 0 },
      children: [{ parent: 0, action: 'up' }, { parent: 0 }],
    });
  });

  test('stay as they were told while the search goes on', async () => {
    const counts: [number | undefined, number | undefined][] = [];
    const kept: SearchEventJson[] = [];
    for await (const event of streamSearch(ladder, options).json()) kept.push(event);
    for (const event of kept) {
      if (event.type === 'simulation-end') counts.push([event.simulation, event.best.visits]);
    }
    expect(counts.length).toBeGreaterThan(1);
    expect(counts[0]?.[1] ?? 0).toBeLessThanOrEqual(2);
  });

  test('show states by the codec of the environment', async () => {
    const coded = {
      ...ladder,
      codec: {
        encode: ({ height }: Rung) => `rung ${height}`,
        decode: (text: unknown) => ({ height: Number(String(text).slice(5)) }),
      },
    };
    const [first] = await told(coded);
    expect(first).toMatchObject({ tree: { nodes: [{ state: 'rung 0' }] } });
    const result = await search(coded, options);
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({ best: { state: 'rung 3' } });
  });

  test('end with the reason where JSON cannot hold a state', async () => {
    const opaque: typeof ladder = { ...ladder, reset: () => ({ state: { height: Number.NaN } }) };
    const stream = streamSearch(opaque, options);
    const read = (async () => {
      for await (const event of stream.json()) void event;
    })();
    await expect(read).rejects.toThrow('Give the environment a codec, which');
    await expect(stream.result).rejects.toThrow('Give the environment a codec, which');
  });

  test('can be left, whether read or not, by the stream too', async () => {
    for (const events of [0, 1]) {
      const stream = streamSearch(ladder, options);
      const told = stream.json();
      for (let read = 0; read < events; read++) await told.next();
      await stream[Symbol.asyncDispose]();
      await expect(told.next()).resolves.toEqual({ done: true, value: undefined });
      await stream.result.catch(() => undefined);
    }
  });

  test('are read in one way', async () => {
    const stream = streamSearch(ladder, options);
    await stream.json().next();
    expect(() => stream.json()).toThrow('are already being read');
  });
});

describe('`JSON.stringify`', () => {
  test('writes events as `json()` does, nodes and trees as they are saved, results without a tree', async () => {
    const types = new Set<string>();
    for await (const event of streamSearch(ladder, options)) {
      expect(JSON.parse(JSON.stringify(event))).toEqual(
        JSON.parse(JSON.stringify(eventToJson(event, undefined))),
      );
      types.add(event.type);
    }
    expect([...types]).toEqual(
      expect.arrayContaining([
        'node-expanded',
        'node-realised',
        'node-evaluated',
        'simulation-end',
      ]),
    );
    expect([...types].at(-1)).toBe('search-end');
    const result = await search(ladder, options);
    const { best, tree } = result;
    const written = JSON.parse(JSON.stringify({ result, best, tree, root: tree.root }));
    expect(written).toMatchObject({
      result: { solved: true, spend: result.spend, best: { id: best.id, depth: 3 } },
      best: { id: best.id, depth: 3, ...treeToJson(tree).nodes[best.id] },
      tree: treeToJson(tree),
      root: { id: 0, depth: 0, ...treeToJson(tree).nodes[0] },
    });
    expect(Object.keys(written.result)).not.toContain('tree');
    expect(treeFromJson(written.tree).size).toBe(tree.size);
    expect({ ...result }).not.toHaveProperty('toJSON');
  });

  test('says which state JSON cannot hold', async () => {
    const maps = { ...ladder, reset: () => ({ state: new Map() as never }) };
    const { tree } = await search(maps, { ...options, policy: () => [] });
    for (const value of [tree, tree.root]) {
      expect(() => JSON.stringify(value)).toThrow(
        'Expected `nodes.0.state` to be JSON, got a Map at `nodes.0.state`. Give the environment a codec, which',
      );
    }
  });
});
