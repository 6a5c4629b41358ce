import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

/** Text that steers a terminal: escape sequences, C0, C1, DEL, separators, bidi controls. */
export const steering: string = [
  '\u001b]52;c;cHdu\u0007',
  '\u001b[2J\u001b[31m',
  '\u001bP1$r\u001b\\',
  '\u009b31m\u009d52;c;cHdu\u009c',
  ...Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).filter(
    (character) => character !== '\n' && character !== '\t',
  ),
  '\u007f',
  ...Array.from({ length: 32 }, (_, code) => String.fromCharCode(0x80 + code)),
  '\u2028\u2029\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069',
].join('x');

/** What of it stands raw in an output; empty where nothing does. */
export function rawIn(output: string): readonly string[] {
  // A terminal gets `\r\n` for each end of a line, and the status line takes itself away.
  const rest = output.replaceAll(/\r+\n/g, '\n').replaceAll('\r\u001b[K', '');
  const raw = rest.match(/(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu) ?? [];
  return [...new Set(raw)].map((character) => JSON.stringify(character));
}

/** A server whose every text is hostile. */
export async function hostileServer(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => {
    const { url = '' } = request;
    request.resume();
    if (url.endsWith('/models')) {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ object: 'list', data: [{ id: `m${steering}`, object: 'model' }] }),
      );
    } else if (url.startsWith('/fails')) {
      response.statusCode = 400;
      response.end(JSON.stringify({ error: { message: `no ${steering}`, code: steering } }));
    } else if (url.endsWith('/chat/completions')) {
      response.setHeader('content-type', 'application/json');
      const content = `So ${steering}. The answer is ${steering}4.`;
      response.end(
        JSON.stringify({
          id: steering,
          model: steering,
          choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
          usage: { prompt_tokens: 3, completion_tokens: 3 },
        }),
      );
    } else {
      response.statusCode = 404;
      response.end(steering);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** Every command with hostile text in what it reads. `folder` is empty, and theirs. */
export function hostileCommands(folder: string, url: string): readonly (readonly string[])[] {
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  const json = JSON.stringify(steering);
  const problems = file('problems.jsonl', `{"id": ${json}, "question": ${json}}\n`);
  const bad = file('bad.jsonl', `{"id": ${json}, "question": 1}\n`);
  const rows = file(
    'data/rows.jsonl',
    `{"prompt": ${json}, "completion": ${json}, ${json}: 1}\n${steering}\n`,
  );
  const run = join(folder, 'run');
  const lock = file(`locked/lock`, JSON.stringify({ pid: 1, host: `other${steering}` }));
  const model = ['--model', `openai-compatible:${url}/v1#m`];
  const failing = ['--model', `openai-compatible:${url}/fails/v1#m`];
  const short = ['--simulations', '3', '--calls', '6'];
  const commands: readonly (readonly string[])[] = [
    ['search', `q${steering}`, ...model, ...short, '--save', run],
    ['search', 'q', ...failing, ...short],
    ['search', 'q', '--save', dirname(lock), ...model, ...short],
    ['search', 'q', '--model', steering],
    ['search', '--task', 'game24', '--input', steering],
    ['doctor', ...model],
    ['doctor', ...failing],
    ['generate', '--problems', problems, ...model, ...short, '--out', join(folder, 'out')],
    ['generate', '--problems', bad, ...model, '--out', join(folder, 'out2')],
    ['generate', '--problems', `none${steering}`, ...model, '--out', join(folder, 'out3')],
    ['check-dataset', rows],
    ['check-dataset', dirname(rows)],
    ['check-dataset', join(folder, 'out')],
    ['rows', rows],
    ['rows', dirname(rows), '--whole'],
    ['rows', rows, '--problem', steering],
    ['export', run, '--out', join(folder, 'out4')],
    ['methods'],
    ['demo', '--puzzles', '1', '--calls', '2'],
    [steering],
    ['search', `--${steering}`],
  ];
  return [
    ...commands.flatMap((command) => [command, [...command, '--json']]),
    ['tree', run],
    ['tree', `none${steering}`],
    ['--help'],
  ];
}
