import { createHash } from 'node:crypto';
import { type Environment, type Evaluator, type Message, mcts, search } from 'espalier';
import { blocksworld, countdown, gameOf24 } from 'espalier/environments';
import { fromModel } from 'espalier/policies';
import { scriptedModel } from 'espalier/testing';
import { judge } from 'espalier/values';

/** One fixed problem of each puzzle, and a first step of it. */
const problems = [
  {
    environment: gameOf24.environment({ numbers: [4, 9, 10, 13] }),
    step: '13 - 9 = 4 (left: 4 4 10)',
  },
  {
    environment: countdown.environment({ numbers: [3, 6, 25, 50], target: 147 }),
    step: '3 * 50 = 150 (left: 6 25 150)',
  },
  {
    environment: blocksworld.environment({
      blocks: ['a', 'b', 'c'],
      places: [-1, 0, -1],
      goal: { places: [1, null, null], clear: [], handEmpty: false },
    }),
    step: '(unstack b a)',
  },
] as const;

/**
 * A hash of each prompt that the policy and the judge write, taken from what a model is really asked. A
 * model is trained on these prompts: where a hash changes, it has to be trained again.
 */
export async function templateHashes(): Promise<Readonly<Record<string, string>>> {
  const hashes: Record<string, string> = {};
  for (const { environment, step } of problems) {
    const prompts = await promptsOf(environment, step);
    for (const [kind, messages] of Object.entries(prompts)) {
      hashes[`${environment.name}.${kind}`] = hashOf(messages);
    }
  }
  return hashes;
}

async function promptsOf(environment: Environment<unknown, unknown>, step: string) {
  const [first, repair] = await asked(environment, { step, repairs: 1 });
  const judged = async (about: 'action' | 'state', reason: boolean) => {
    const prompts = await asked(environment, { step, about, reason });
    return prompts.filter(({ content }) => content.includes('Judge')).at(-1);
  };
  return {
    step: first,
    repair,
    state: await judged('state', false),
    'state.reason': await judged('state', true),
    action: await judged('action', false),
    'action.reason': await judged('action', true),
  };
}

interface Asking {
  readonly step: string;
  readonly repairs?: number;
  readonly about?: 'action' | 'state';
  readonly reason?: boolean;
}

/** The last message of each request of a short search. */
async function asked(
  environment: Environment<unknown, unknown>,
  { step, repairs = 0, about, reason = false }: Asking,
): Promise<readonly Message[]> {
  let isFirst = repairs > 0;
  const model = scriptedModel({
    capabilities: { n: true, temperature: true },
    answer: ({ messages }) => {
      if (messages.at(-1)?.content.includes('Judge') === true) return 'sure';
      if (!isFirst) return step;
      isFirst = false;
      return 'I do not know.';
    },
  });
  const { notation } = environment;
  if (notation === undefined) throw new Error(`${environment.name} has no notation.`);
  const evaluator: Evaluator<unknown, unknown> =
    about === undefined
      ? { needs: 'realised', evaluate: (nodes) => nodes.map(() => ({ value: 0.5 })) }
      : judge({ model, about, reason, samples: 1 });
  await search(environment, {
    policy: fromModel({ model, samples: 1, repairs }),
    evaluator,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 3, calls: 8 },
  });
  return model.requests.flatMap(({ messages }) => messages.at(-1) ?? []);
}

function hashOf(message: Message | undefined): string {
  if (message === undefined) throw new Error('Expected the search to ask for this prompt.');
  // Only caches read this.
  const { prefixEnds: _, ...read } = message;
  return createHash('sha256').update(JSON.stringify(read)).digest('hex').slice(0, 16);
}
