/**
 * Journals as files: `npm run verify:journals`. A million lines are opened in a process of their own, within 300 MB and
 * 6 s; every bit of a journal that is flipped is found out, or changes nothing.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sealLine } from '../../src/calls/journal-reader.ts';
import { seededRandom } from '../../src/index.ts';
import { flipsOf } from '../promises/journal-flips.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-journals-'));
try {
  million();
  await flips(Number(process.argv[2] ?? 6000));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Opens a journal with a million lines, as a search does that goes on with it. */
function million(): void {
  const path = join(folder, 'million.jsonl');
  const chunks: string[] = [sealLine({ type: 'journal', version: 3, run: { environment: 'x' } })];
  const spend = { calls: 1, tokens: 31, usd: 0.000123 };
  for (let call = 0; call < 500_000; call++) {
    const key = Buffer.from(String(call).padStart(32, '0')).toString('base64url').slice(0, 43);
    chunks.push(
      sealLine({
        type: 'intent',
        call,
        key,
        kind: 'generate',
        name: 'anthropic:claude',
        samples: [0, 1],
        reserved: { calls: 1, tokens: 300, usd: 0.001 },
        request: { messages: [{ role: 'user', content: `What is ${call} plus one? `.repeat(8) }] },
      }),
      sealLine({
        type: 'result',
        call,
        key,
        spend,
        output: { completions: [{ text: `It is ${call + 1}. `.repeat(12) }] },
      }),
    );
    if (chunks.length > 20_000) appendFileSync(path, `${chunks.splice(0).join('\n')}\n`);
  }
  appendFileSync(path, `${chunks.join('\n')}\n`);
  const script = `
    import { openJournal } from ${JSON.stringify(new URL('../../dist/calls/index.js', import.meta.url).href)};
    import { statSync } from 'node:fs';
    import { search, mcts } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)};
    const startedAt = performance.now();
    const journal = openJournal(${JSON.stringify(path)});
    let asked = 0;
    const environment = { name: 'x', reset: () => ({ state: '' }), step: (state, action) => ({ state: state + action }) };
    await search(environment, {
      policy: { propose: () => { asked += 1; return [{ action: 'a' }]; } },
      evaluator: { needs: 'realised', evaluate: (nodes) => nodes.map(() => ({ value: 0.5 })) },
      algorithm: { name: 'one step', concurrency: 'any', laws: [], run: async () => {} },
      budget: { simulations: 1 },
      journal: { ...journal, lines: journal.lines, mode: 'replay', append() {} },
    });
    const seconds = (performance.now() - startedAt) / 1000;
    const megabytes = process.resourceUsage().maxRSS / 1000;
    process.stdout.write(JSON.stringify({ seconds, megabytes, bytes: statSync(${JSON.stringify(path)}).size }));
  `;
  const module = join(folder, 'open.mjs');
  writeFileSync(module, script);
  const output = execFileSync(process.execPath, [module], { encoding: 'utf8' });
  const { seconds, megabytes, bytes } = JSON.parse(output) as Record<string, number>;
  process.stdout.write(
    `1,000,001 lines, ${Math.round((bytes ?? 0) / 1e6)} MB: opened in ${seconds?.toFixed(1)} s, ${megabytes?.toFixed(0)} MB at most\n`,
  );
  assert.ok((seconds ?? 99) < 6, 'in under 6 s');
  assert.ok((megabytes ?? 999) < 300, 'in under 300 MB');
}

async function flips(count: number): Promise<void> {
  const random = seededRandom('flips');
  const { silent, refused, same } = await flipsOf(join(folder, 'flipped.jsonl'), { count, random });
  process.stdout.write(
    `${count} flipped bits: ${refused} refused, ${same} changed nothing, ${silent} changed a tree silently\n`,
  );
  assert.equal(silent, 0);
}
