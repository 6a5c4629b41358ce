/** A witness in a process of its own: `node --import tsx witness-server.ts LOG` prints its port. */
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Asked, Witness } from './witness.ts';

const [, , log = ''] = process.argv;
const witness = new Witness();
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on('end', () => {
    const asked = JSON.parse(body) as Asked;
    appendFileSync(log, `${body}\n`);
    response.end(JSON.stringify(witness.ask(asked)));
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
// Whoever started it is gone.
process.stdin.on('end', () => process.exit(0)).resume();
