/** Serves a search as server-sent events, reads them as a page would, and ends the search of a page that is closed. */
import assert from 'node:assert/strict';
import { mcts, type SearchEventJson, solved, streamSearch } from 'espalier';
import { gameOf24 } from 'espalier/environments';
import { uniform } from 'espalier/policies';
import { heuristic } from 'espalier/values';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';

const app = new Hono();
const ends: Promise<'finished' | 'left'>[] = [];

app.get('/search', (context) =>
  streamSSE(context, async (response) => {
    // Without this, the search of a client that has left would go on and spend.
    const left = new AbortController();
    response.onAbort(() => left.abort());
    const environment = gameOf24.environment(gameOf24.parse(context.req.query('numbers') ?? ''));
    const events = streamSearch(environment, {
      policy: uniform(environment.actions),
      evaluator: heuristic(gameOf24.estimate),
      algorithm: mcts({ evaluate: 'all' }),
      budget: { simulations: 200 },
      stopWhen: solved(),
      signal: left.signal,
    });
    const { result } = events;
    ends.push(
      result.then(
        () => 'finished',
        () => 'left',
      ),
    );
    try {
      for await (const event of events.json()) {
        await response.writeSSE({ event: event.type, data: JSON.stringify(event) });
      }
    } catch (error) {
      if (!left.signal.aborted) throw error;
    }
  }),
);

// In a server of Node: serve(app), from @hono/node-server. Here the page is this program.
const response = await app.request('/search?numbers=4+9+10+13');
const received = (await response.text())
  .split('\n')
  .filter((line) => line.startsWith('data: '))
  .map((line) => JSON.parse(line.slice('data: '.length)) as SearchEventJson);

const last = received.at(-1);
assert.ok(last?.type === 'search-end');
const { result } = last;
console.log(`${received.length} events; ${result.stopReason} with node ${result.best.id}`);
console.log(result.actions);
assert.equal(result.actions.length, 3);

// A page that is closed after its first event.
const closed = await app.request('/search?numbers=1+1+1+1');
const reader = closed.body?.getReader();
await reader?.read();
await reader?.cancel();
assert.deepEqual(await Promise.all(ends), ['finished', 'left']);
