/** A search over tools: branches change a copy of the data and send nothing. A commit carries out the best path. */
import assert from 'node:assert/strict';
import { type Completion, type GenerateRequest, search, solved } from 'espalier';
import { memoryJournal } from 'espalier/calls';
import { toolEnvironment } from 'espalier/environments';
import { callTools } from 'espalier/policies';
import { scriptedModel } from 'espalier/testing';
import { judge } from 'espalier/values';
import * as z from 'zod';

const sent: string[] = [];
const model = scriptedModel({ answer: play, capabilities: { n: true, tools: true } });

const crm = toolEnvironment(
  { plan: 'free', told: false },
  {
    name: 'crm',
    task: 'Put Ada on the pro plan, then tell her by mail.',
    tools: (tool) => ({
      update: tool({
        input: z.object({ plan: z.enum(['free', 'pro']) }),
        effect: 'pure', // returns a new state and changes nothing else
        run: (db, { plan }) => ({ state: { ...db, plan }, output: 'ok' }),
      }),
      mail: tool({
        input: z.object({ to: z.string() }),
        effect: 'irreversible', // a branch predicts it, and only a commit runs it
        predict: (db) => ({ state: { ...db, told: true } }),
        run: (_db, { to }) => void sent.push(to),
      }),
    }),
    done: ({ plan, told }) => plan === 'pro' && told,
  },
);

const { tree, actions } = await search(crm, {
  policy: callTools({ model }),
  evaluator: judge({ model }),
  budget: { calls: 40 },
  stopWhen: solved(),
});
for (const action of actions) console.log(crm.notation.format(action));
assert.deepEqual(sent, []); // branches only plan: nothing was sent

const journal = memoryJournal(); // with openJournal('crm.jsonl') it outlives the process
const approve = () => true; // shows the plan to a person, and returns the answer
const { status } = await crm.commit(tree, { journal, approve });
assert.equal(status, 'committed');
assert.deepEqual(sent, ['ada@example.com']);
assert.equal(tree.best.state?.data.plan, 'pro'); // saving the new data is up to you

await crm.commit(tree, { journal, approve }); // the journal shows that the mail was sent: it is not sent again
assert.deepEqual(sent, ['ada@example.com']);

/** The scripted model: it proposes the tools in turn, and judges all states alike. */
function play({ toolChoice }: GenerateRequest, index: number): string | Completion {
  if (toolChoice === 'none') return 'likely';
  const isMail = index % 2 === 0;
  const name = isMail ? 'mail' : 'update';
  const input: Record<string, string> = isMail ? { to: 'ada@example.com' } : { plan: 'pro' };
  return { text: '', finishReason: 'tool', toolCalls: [{ id: `call_${index}`, name, input }] };
}
