/**
 * Stands between an MCP client and its server, and writes down each message of the client before the server sees it:
 * `mcp-relay.ts LOG stdio COMMAND…`, or `mcp-relay.ts LOG http PORT`, which prints its own port.
 */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

const [, , log = '', kind, ...rest] = process.argv;

if (kind === 'stdio') {
  const [command = '', ...args] = rest;
  const server = spawn(command, args, { stdio: ['pipe', 'inherit', 'inherit'] });
  process.stdin.on('data', (chunk: Buffer) => {
    appendFileSync(log, chunk);
    server.stdin.write(chunk);
  });
  process.stdin.on('end', () => server.stdin.end());
  process.on('SIGTERM', () => server.kill());
  server.on('exit', (code) => process.exit(code ?? 0));
} else {
  const relay = createServer((asked, response) => {
    const { method, headers, url: path } = asked;
    const onward = request({ port: Number(rest[0]), host: '127.0.0.1', method, headers, path });
    asked.on('data', (chunk: Buffer) => {
      appendFileSync(log, `${chunk}\n`);
      onward.write(chunk);
    });
    asked.on('end', () => onward.end());
    response.on('close', () => onward.destroy());
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
  });
  relay.listen(0, '127.0.0.1', () => {
    process.stdout.write(`${(relay.address() as AddressInfo).port}\n`);
  });
  // Whoever started it is gone.
  process.stdin.on('end', () => process.exit(0)).resume();
}
