import { describe, expect, test } from 'vitest';
import type { CallContext } from '../../src/contracts/context.ts';
import type { MemoryQuery, Retriever } from '../../src/contracts/memory.ts';
import { inMemoryStore, memory } from '../../src/memory/index.ts';
import { plainContext } from '../../src/testing/index.ts';
import { reflection, reflections } from './reflections.ts';

const query: MemoryQuery = { kind: 'policy', task: 'open the door', situation: 'here' };

/** Situations are numbers: how similar they are. */
const byNumber: Retriever = {
  name: 'by-number',
  similarities: (_query, texts) => texts.map((text) => Number(text.split('\n\n')[1])),
};

async function recalled(
  options: Partial<Parameters<typeof memory>[0]>,
  asked: Partial<MemoryQuery> = {},
): Promise<readonly (readonly [string, number])[]> {
  const store = inMemoryStore();
  await store.add(reflections('0.3', '0.25', '0.9', '0.24', '-0.5'));
  await store.add([reflection({ kind: 'value', situation: '0.5' })]);
  await store.add([reflection({ kind: 'value', situation: '0.6' })]);
  const found = await memory({ store, retriever: byNumber, ...options }).recall(
    { ...query, ...asked },
    plainContext(),
  );
  return found.map(({ reflection: { situation }, similarity }) => [situation, similarity]);
}

describe('recall', () => {
  test('finds the two most similar ones for a policy, and one for a judge', async () => {
    expect(await recalled({})).toEqual([
      ['0.9', 0.9],
      ['0.3', 0.3],
    ]);
    expect(await recalled({}, { kind: 'value' })).toEqual([['0.6', 0.6]]);
  });

  test('finds as many as were asked for', async () => {
    expect(await recalled({ k: { policy: 0 } })).toEqual([]);
    expect(await recalled({ k: { policy: 1, value: 9 } })).toHaveLength(1);
    expect(await recalled({ k: { policy: 1, value: 9 } }, { kind: 'value' })).toHaveLength(2);
  });

  test('leaves out what is less similar than the minimum, and keeps what is just that', async () => {
    const all = { k: { policy: 9 } };
    const names = async (options: object) => (await recalled(options)).map(([name]) => name);
    expect(await names(all)).toEqual(['0.9', '0.3', '0.25']);
    expect(await names({ ...all, minSimilarity: 0.9 })).toEqual(['0.9']);
    expect(await names({ ...all, minSimilarity: -1 })).toHaveLength(5);
    expect(await names({ ...all, minSimilarity: 0.91 })).toEqual([]);
  });

  test('puts the newer one first where two are equally similar', async () => {
    const store = inMemoryStore();
    const [older, newer] = ['push', 'pull'].map((action) => reflection({ situation: '1', action }));
    await store.add([older, newer].flatMap((one) => one ?? []));
    const found = await memory({ store, retriever: byNumber }).recall(query, plainContext());
    expect(found.map((one) => one.reflection)).toEqual([newer, older]);
  });

  test('looks at the task and the situation', async () => {
    const asked: string[][] = [];
    const store = inMemoryStore();
    await store.add([reflection({ task: 'open the door', situation: 'in the hall' })]);
    const retriever: Retriever = {
      name: 'spy',
      similarities(text, texts) {
        asked.push([text, ...texts]);
        return [1];
      },
    };
    await memory({ store, retriever }).recall(query, plainContext());
    expect(asked).toEqual([['open the door\n\nhere', 'open the door\n\nin the hall']]);
  });

  test('by words, unless told otherwise', async () => {
    const store = inMemoryStore();
    await store.add(reflections('a red door with a handle', 'a green field'));
    const found = await memory({ store }).recall(
      { ...query, task: 'walk', situation: 'a red door' },
      plainContext(),
    );
    expect(found.map(({ reflection: { situation } }) => situation)).toEqual([
      'a red door with a handle',
    ]);
  });
});

describe('a retriever that breaks its contract', () => {
  const recallWith = async (similarities: Retriever['similarities']) => {
    const store = inMemoryStore();
    await store.add(reflections('a', 'b'));
    return memory({ store, retriever: { name: 'odd', similarities } }).recall(
      query,
      plainContext(),
    );
  };

  test('is told so', async () => {
    await expect(recallWith(() => [1])).rejects.toThrow(
      'Expected `similarities of odd` to be 2 numbers, got an array of 1.',
    );
    await expect(recallWith(() => [1, Number.NaN])).rejects.toThrow('to be 2 numbers');
  });

  test('by making calls while it compares is told where to make them', async () => {
    const callers: readonly ((context: CallContext) => Promise<unknown>)[] = [
      (context) => context.effect('e', null, async () => 1),
      (context) =>
        context.embed({ provider: 'p', modelId: 'm', embed: async () => ({ embeddings: [] }) }, []),
    ];
    for (const call of callers) {
      const similarities: Retriever['similarities'] = async (_query, _texts, context) => {
        await call(context);
        return [1, 1];
      };
      await expect(recallWith(similarities)).rejects.toThrow(
        'Expected the retriever odd to make its calls in `prepare`: `similarities` runs inside an effect, where none can be made.',
      );
    }
  });

  test('by never being prepared is told so', async () => {
    const store = inMemoryStore();
    await store.add(reflections('a'));
    const retriever = {
      name: 'never',
      missing: () => ['a'],
      prepare: async () => {},
      similarities: () => [1],
    };
    await expect(memory({ store, retriever }).recall(query, plainContext())).rejects.toThrow(
      'Expected the retriever never to know all texts once they are prepared, but it does not.',
    );
  });
});

describe('remember', () => {
  test('keeps what is new, and tells what that was', async () => {
    const store = inMemoryStore();
    await store.add(reflections('known'));
    const remembering = memory({ store });
    const context = plainContext();
    const [known, fresh, later] = reflections('known', 'fresh', 'later');
    const offer = (...offered: (typeof known)[]) =>
      remembering.remember(
        offered.flatMap((one) => one ?? []),
        context,
      );
    expect(await offer(known, fresh, fresh)).toEqual([fresh]);
    expect(await offer(fresh, later)).toEqual([later]);
    expect(await offer(fresh)).toEqual([]);
    expect(await offer()).toEqual([]);
    expect(await store.all()).toEqual([known, fresh, later]);
  });

  test('may be tried again where the store failed', async () => {
    const inner = inMemoryStore();
    let failures = 1;
    const store = {
      all: () => inner.all(),
      add(added: Parameters<typeof inner.add>[0]) {
        if (failures-- > 0) throw new Error('no room');
        return inner.add(added);
      },
    };
    const remembering = memory({ store });
    const context = plainContext();
    const given = reflections('a');
    await expect(remembering.remember(given, context)).rejects.toThrow('no room');
    expect(await remembering.remember(given, context)).toEqual(given);
  });
});

test('options out of range are refused in one sentence', () => {
  const store = inMemoryStore();
  const make = (options: object) => () => memory({ store, ...options });
  expect(make({ store: {} })).toThrow('Expected `store` to be an object with a method `all`');
  expect(make({ retriever: { name: 'x' } })).toThrow('with a method `similarities`');
  expect(make({ retriever: { similarities: () => [] } })).toThrow(
    'Expected `retriever.name` to be',
  );
  expect(make({ k: { policy: -1 } })).toThrow('Expected `k.policy` to be an integer from 0 up');
  expect(make({ k: { value: 0.5 } })).toThrow('Expected `k.value` to be an integer from 0 up');
  expect(make({ minSimilarity: 2 })).toThrow('Expected `minSimilarity` to be a finite number');
});
