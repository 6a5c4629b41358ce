import * as z from 'zod';
import { expectOptions } from '../../base/expect-options.ts';
import { seededRandom } from '../../base/random.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Oracle } from '../../contracts/verifier.ts';
import {
  remoteEnvironment,
  type ToolState,
  toolEnvironment,
  type WorldState,
} from '../../environments/index.ts';
import type { BenchInstance, BenchTask } from '../task.ts';
import { shuffled } from './drawn-questions.ts';
import type { BenchTaskEntry } from './entry.ts';
import { aside, pythonCommand, startedAside } from './python-side.ts';
import { readRequest } from './request.ts';
import { withoutAnswer } from './tool-task.ts';

/** The multi-turn base tasks of BFCL, which live in Python: all requests of the user are there from the start. */
export const bfclEntry: BenchTaskEntry = {
  name: 'bfcl',
  title: 'the multi-turn base tasks of BFCL, in Python',
  paper: 'Patil et al., The Berkeley Function Calling Leaderboard, ICML 2025',
  create(options = {}) {
    expectOptions('bfcl', options, '');
    return bfcl();
  },
};

const missing =
  'The task `bfcl` needs a `python3` of version 3.10 or later with its package first on the PATH: run `python3 -m pip install --no-deps bfcl-eval==2026.3.23 mpmath==1.3.0`.';

/** The requests to the Python side. */
type Asked =
  | { readonly tasks: true }
  | { readonly begin: string }
  | { readonly call: string }
  | { readonly judge: true };

type Session = WorldState<Asked, JsonValue>;

/** A task as the Python side shows it. */
interface Shown {
  readonly id: string;
  /** The requests of the user, turn by turn. */
  readonly requests: readonly string[];
  readonly functions: readonly {
    readonly name: string;
    readonly description: string;
    readonly input: JsonValue;
  }[];
}

function bfcl(): BenchTask {
  // One program for all: each state holds which task was begun.
  const remote = remoteEnvironment<Asked>({
    name: 'bfcl',
    command: pythonCommand('espalier_bfcl.py'),
    timeoutMs: 60_000,
  });
  const seenAfter = async (state: Session, asked: Asked) => {
    const { state: next } = await remote.step(state, asked, aside);
    return { next, seen: next.steps.at(-1)?.observation as unknown };
  };

  async function instanceOf({ id, requests, functions }: Shown, start: Session) {
    const { next: begun } = await seenAfter(start, { begin: id });
    const environment = toolEnvironment(begun, {
      name: 'bfcl',
      task: taskOf(requests),
      tools: (tool) =>
        Object.fromEntries(
          functions.map(({ name, description, input }) => [
            name,
            tool({
              ...{ description, effect: 'pure', jsonSchema: input },
              input: z.record(z.string(), z.json()),
              async run(session, given) {
                const call = JSON.stringify({ name, arguments: given });
                const { next, seen } = await seenAfter(session, { call });
                return { state: next, output: seen };
              },
            }),
          ]),
        ),
    });
    const oracle: Oracle<ToolState<Session>> = {
      async label({ data, ended }) {
        if (ended !== 'answered') return { correct: false, rationale: 'It was not ended.' };
        const { seen } = await seenAfter(data, { judge: true });
        const { state, answers } = seen as { readonly state: boolean; readonly answers: boolean };
        const rationale = `The state is ${state ? '' : 'not '}as recorded, and ${answers ? 'all' : 'not all'} recorded answers were given.`;
        return { correct: state && answers, rationale };
      },
    };
    return { id, environment: withoutAnswer(environment), oracle, maxTokens: 1_024 };
  }

  return {
    name: 'bfcl',
    title: 'BFCL, multi-turn base',
    source: 'bfcl-eval, PyPI',
    licence: 'Apache-2.0',
    async instances(request) {
      const { limit, seed } = readRequest(this, request);
      const { state: start } = await startedAside(remote, missing);
      const { seen } = await seenAfter(start, { tasks: true });
      const random = seededRandom(seed).split('bfcl');
      const instances: BenchInstance[] = [];
      for (const each of shuffled(random, seen as readonly Shown[]).slice(0, limit)) {
        instances.push(await instanceOf(each, start));
      }
      return instances;
    },
    close: () => remote.close(),
  };
}

function taskOf(requests: readonly string[]): string {
  const all = requests.map((request, place) => `${place + 1}. ${request}`).join('\n');
  return `A user asks for this, one after the other. Do it in this order, one call at a time, and nothing besides. When all is done, end with \`answer\`.\n\n${all}`;
}
