/**
 * Tools made by one major of the AI SDK, executed through a search, and seen by a witness in another process:
 * `node --import tsx ai-sdk.ts MAJOR BRIDGE`, where the bridge is a module that exports the packages.
 */
import { pathToFileURL } from 'node:url';
import { type AiSdkTool, aiSdkTools } from '../../src/agents/index.ts';
import { memoryJournal } from '../../src/calls/index.ts';
import type { ToolDefinition } from '../../src/index.ts';
import { Checks } from '../support/checks.ts';
import { type Call, searchOver, seenOf, shown } from '../support/tool-search.ts';
import { startWitness } from '../support/witness-process.ts';
import { type cityJson, type Given, outputsOf, type Packages, schemasOf } from './ai-sdk-shapes.ts';

const [, , told = '7', bridge = ''] = process.argv;
const major = Number(told) as 5 | 6 | 7;
const packages = (await import(pathToFileURL(bridge).href)) as Packages;
const { ai, utils, z, z3 } = packages;
const checks = new Checks();
const witness = await startWitness();

/** What has run since the last time, as the witness tells it. */
let read = 0;
function ran(): readonly string[] {
  const log = witness.log();
  const fresh = log.slice(read).flatMap((asked) => (asked.op === 'send' ? [asked.text] : []));
  read = log.length;
  return fresh;
}

/** Tells the witness that something runs. */
const say = (text: string) => witness.ask({ op: 'send', id: text, text });

const looking = (name: string) => ({
  description: `Looks by ${name}.`,
  execute: async (input: object) => {
    await say(`${name} ${JSON.stringify(input)}`);
    return `seen by ${name}`;
  },
});

// Schemas of every kind: they arrive as the SDK itself sends them, and refuse before anything runs.
const schemas = schemasOf(packages);
for (const [name, inputSchema] of Object.entries(schemas)) {
  const tools = aiSdkTools(
    { [name]: ai.tool({ ...looking(name), inputSchema }) },
    { effects: { [name]: 'read' }, major },
  );
  const right = { city: 'Oslo', days: 2 };
  const wrong = [{}, { city: 'O' }, { city: 7 }, { city: 'Oslo', days: 'x' }];
  const calls = [right, ...wrong].map((input): Call => ({ tool: name, input }));
  const { tree, model } = await searchOver(tools, [calls]);
  const sent = model.requests[0]?.tools?.find((tool) => tool.name === name) as ToolDefinition;
  const own = (await ai.asSchema(inputSchema).jsonSchema) as typeof cityJson;
  const { properties, required, type } = sent.input as unknown as typeof cityJson;
  const ownProperties = JSON.parse(JSON.stringify(own.properties)) as Record<string, object>;
  // Zod bounds integers in one draft of JSON schema as in the other, and `ai` may leave the bounds out.
  checks.equal(`${name}: properties`, Object.keys(properties), Object.keys(ownProperties));
  checks.equal(`${name}: a property`, properties.city, ownProperties['city']);
  checks.equal(`${name}: another`, properties.days, ownProperties['days']);
  checks.equal(`${name}: required`, required, own.required);
  checks.equal(`${name}: an object`, type, 'object');
  checks.equal(`${name}: the description`, sent.description, `Looks by ${name}.`);
  const observed = tree.root.children.map(({ state }) => state?.turns.at(-1)?.content);
  checks.equal(`${name}: the output`, observed[0], shown(`seen by ${name}`));
  const lax = name === 'checked' ? 3 : 4;
  for (const refused of observed.slice(1, 1 + lax)) {
    checks.holds(`${name}: a refusal`, refused, 'Its input is invalid.');
  }
  const taken = lax === 4 ? [right] : [right, wrong[3]];
  const texts = taken.map((input) => `${name} ${JSON.stringify(input)}`);
  checks.equal(`${name}: what ran`, new Set(ran()), new Set(texts));
}

// What a schema reads, and what only it can refuse.
{
  const inputSchema = ai.zodSchema(
    z.object({
      city: z
        .string()
        .refine(async (text) => text !== 'Rome')
        .transform((text) => text.toUpperCase()),
    }),
  );
  const tools = aiSdkTools(
    { late: ai.tool({ ...looking('late'), inputSchema }) },
    { effects: { late: 'read' }, major },
  );
  const observed = await seenOf(tools, [
    { tool: 'late', input: { city: 'Oslo' } },
    { tool: 'late', input: { city: 'Rome' } },
  ]);
  checks.equal('late: the output', observed[0], shown('seen by late'));
  checks.holds('late: a refusal', observed[1], 'Its input is invalid.');
  checks.equal('late: read once, and refused before it ran', ran(), ['late {"city":"OSLO"}']);
}

// One repair, in which the model sees what was wrong.
{
  const tools = aiSdkTools(
    { zod: ai.tool({ ...looking('zod'), inputSchema: schemas['zod'] }) },
    { effects: { zod: 'read' }, major },
  );
  const wrong = { tool: 'zod', input: { city: 7 } };
  const { model } = await searchOver(tools, [[wrong], [wrong]], { repairs: 1 });
  const shownTo = model.requests.flatMap(({ messages }) => messages.map(({ content }) => content));
  const told = shownTo.some((text) => text.includes('Its input is invalid.'));
  checks.equal('a repair shows the error', told, true);
  checks.equal('and nothing ran', ran(), []);
}

// Outputs.
const inputSchema = z.object({ n: z.number() });
const outputs = outputsOf(major);
{
  const made = Object.fromEntries(
    Object.entries(outputs).map(([name, { spec }]) => [name, ai.tool({ inputSchema, ...spec })]),
  );
  const effects = Object.fromEntries(Object.keys(made).map((name) => [name, 'read' as const]));
  const calls = Object.keys(made).map((tool) => ({ tool, input: { n: 1 } }));
  const observed = await seenOf(aiSdkTools(made, { effects, major }), calls);
  for (const [index, [name, { seen }]] of Object.entries(outputs).entries()) {
    checks.equal(`output of ${name}`, observed[index], seen);
  }
}

// What `execute` is given; a limit of time and the end of the search abort it.
{
  const given: Given[] = [];
  const options = { effects: { look: 'read' }, major, context: { user: 'ann' } } as const;
  const look = ai.tool({
    inputSchema,
    execute: (_input: object, told: Given) => given.push(told),
  });
  await seenOf(aiSdkTools({ look }, options), [{ tool: 'look', input: { n: 1 } }]);
  const [first] = given;
  checks.equal('an id of the call', typeof first?.toolCallId, 'string');
  checks.equal('messages', first?.messages, []);
  checks.equal('a signal', first?.abortSignal instanceof AbortSignal, true);
  const named = major === 7 ? first?.context : first?.experimental_context;
  checks.equal('the context', named, { user: 'ann' });

  const hang = ai.tool({
    inputSchema,
    execute: async ({ n }: { readonly n: number }, { abortSignal }: Given) => {
      await say(`begun ${n}`);
      await new Promise((resolve) => abortSignal.addEventListener('abort', resolve));
      await say(`aborted ${n}`);
    },
  });
  const hanging = (timeoutMs: number) =>
    aiSdkTools({ hang }, { effects: { hang: 'read' }, major, timeoutMs });
  const [late] = await seenOf(hanging(100), [{ tool: 'hang', input: { n: 1 } }]);
  checks.holds('it is late', late, 'It took longer than 100 ms');
  await until(() => witness.log().length > read + 1);
  checks.equal('and is aborted', ran(), ['begun 1', 'aborted 1']);
  const stop = new AbortController();
  const searching = searchOver(hanging(60_000), [[{ tool: 'hang', input: { n: 2 } }]], {
    signal: stop.signal,
  });
  await until(() => witness.log().length > read);
  stop.abort(new Error('enough'));
  await checks.refuses('the search ends', () => searching, 'enough');
  await until(() => witness.log().length > read + 1);
  checks.equal('and the tool is aborted', ran(), ['begun 2', 'aborted 2']);
}

async function until(happens: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !happens(); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// What changes the world: reversible in a branch, irreversible in a commit alone.
{
  const ids: string[] = [];
  const undone: string[] = [];
  const to = z.object({ to: z.number() });
  const set = ai.tool({
    inputSchema: ai.zodSchema(to),
    execute: async ({ to }: { readonly to: number }, { toolCallId }: Given) => {
      ids.push(toolCallId);
      return witness.ask({ op: 'set', key: 'price', value: to });
    },
  });
  const mail = ai.tool({
    inputSchema: to,
    ...(major > 5 && { needsApproval: true }),
    execute: async ({ to }: { readonly to: number }, { toolCallId }: Given) => {
      ids.push(toolCallId);
      return say(`mail ${to}`);
    },
  });
  await witness.ask({ op: 'set', key: 'price', value: 1 });
  const before = await witness.ask({ op: 'dump' });
  const journal = memoryJournal();
  const tools = aiSdkTools(
    { set, mail },
    {
      major,
      effects: {
        mail: 'irreversible',
        set: {
          effect: 'reversible',
          remember: () => witness.ask({ op: 'get', key: 'price' }),
          undo: async (_input, { remembered = null }, { id }) => {
            undone.push(id);
            await witness.ask({ op: 'set', key: 'price', value: remembered });
          },
        },
      },
    },
  );
  const rows = [
    [{ tool: 'set', input: { to: 2 } }],
    [{ tool: 'mail', input: { to: 2 } }],
    [{ tool: 'answer', input: { answer: 'done' } }],
  ];
  const { environment, tree } = await searchOver(tools, rows, { journal });
  await environment.close();
  checks.equal('the world is as it was', await witness.ask({ op: 'dump' }), before);
  checks.equal('nothing was sent', ran(), []);
  checks.equal('the undo is of the same call', new Set(undone), new Set(ids));
  checks.equal('the path ends with an answer', tree.best.state?.answer, 'done');
  const refused = await environment.commit(tree, { journal, approve: () => false });
  checks.equal('it is asked about', refused.status, 'refused');
  checks.equal('and nothing was sent', ran(), []);
  const plans: unknown[] = [];
  const { status } = await environment.commit(tree, {
    journal,
    approve: ({ calls }) => plans.push(calls.map(({ tool }) => tool)) > 0,
  });
  checks.equal('it is committed', status, 'committed');
  checks.equal('all was shown before', plans, [['set', 'mail']]);
  checks.equal('it is sent once', ran(), ['mail 2']);
  checks.equal('the price stays', await witness.ask({ op: 'get', key: 'price' }), 2);
  checks.equal('no id twice', new Set(ids).size, ids.length);
  await environment.commit(tree, { journal, approve: () => true });
  checks.equal('a second commit sends nothing', ran(), []);
  if (major > 5) {
    for (const needsApproval of [true, () => false]) {
      const careful = ai.tool({ inputSchema: to, needsApproval, execute: () => 1 });
      await checks.refuses(
        'what needs approval is not read',
        () => aiSdkTools({ careful }, { effects: { careful: 'read' }, major }),
        'needs approval, so it is not read',
      );
    }
  }
}

// Other kinds of tools.
{
  const dynamic = ai.dynamicTool({
    ...{ description: 'Any.', inputSchema: ai.jsonSchema({ type: 'object', properties: {} }) },
    execute: async (input: unknown) => input,
  });
  const factory = utils.createProviderToolFactory ?? utils.createProviderDefinedToolFactory;
  const made = factory?.({
    ...{ id: 'house.shell', name: 'shell' },
    inputSchema: utils.lazySchema(() => ai.zodSchema(z.object({ command: z.string() }))),
  });
  const shell = made?.({ execute: ({ command }: { command: string }) => `ran ${command}` });
  const tools = aiSdkTools(
    { dynamic, shell: shell as AiSdkTool },
    { effects: { dynamic: 'read', shell: 'read' }, major },
  );
  const observed = await seenOf(tools, [
    { tool: 'dynamic', input: { a: [1] } },
    { tool: 'shell', input: { command: 'ls' } },
    { tool: 'shell', input: {} },
  ]);
  checks.equal('a dynamic tool', observed[0], shown('{"a":[1]}'));
  checks.equal("a provider's tool that we execute", observed[1], shown('ran ls'));
  checks.holds('and its refusal', observed[2], 'Its input is invalid.');
  const executed = utils.createProviderExecutedToolFactory ?? factory;
  const remote = executed?.({ id: 'house.web', name: 'web', inputSchema, outputSchema: z.any() })(
    {},
  );
  await checks.refuses(
    "a provider's tool that it executes",
    () => aiSdkTools({ remote: remote as AiSdkTool }, { effects: { remote: 'read' }, major }),
    'Expected `tools.remote` to be a tool with an `execute`',
  );
  const three = ai.tool({ inputSchema: z3.object({ n: z3.number() }), execute: () => 1 });
  await checks.refuses(
    'a schema of zod 3 as it is',
    () => aiSdkTools({ three }, { effects: { three: 'read' }, major }),
    'within `zodSchema()` of the SDK',
  );
  const later = ai.tool({
    inputSchema: ai.jsonSchema(Promise.resolve({ type: 'object' })),
    execute: () => 1,
  });
  await checks.refuses(
    'a schema that comes later',
    () => aiSdkTools({ later }, { effects: { later: 'read' }, major }),
    'a schema that is there at once',
  );
  if (major > 5) {
    const shower = ai.tool({
      description: major === 7 ? ({ context }: Given) => `For ${String(context)}.` : 'For ann.',
      ...{ inputSchema, inputExamples: [{ input: { n: 7 } }], execute: () => 1 },
    });
    const options = { effects: { shower: 'read' }, major, context: 'ann' } as const;
    const { model } = await searchOver(aiSdkTools({ shower }, options), [
      [{ tool: 'shower', input: { n: 1 } }],
    ]);
    const description = model.requests[0]?.tools?.[0]?.description;
    checks.equal('examples', description, 'For ann.\n\nInput examples:\n{"n":7}');
  }
}

await witness.close();
checks.end(`ai@${major}`);
