/**
 * Stands between an MCP client and its server, and writes down each message of the client before the server sees it:
 * `mcp-relay.ts LOG stdio COMMAND…`, or `mcp-relay.ts LOG http PORT COMMAND…`, which prints its own port. It starts the
 * server, and ends it.
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
  const [port, command = '', ...args] = rest;
  const server = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const relay = createServer((asked, response) => {
    const { method, headers, url: path } = asked;
    const onward = request({ port: Number(port), host: '127.0.0.1', method, headers, path });
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
  // It says so when it is ready.
  server.stderr.once('data', () => {
    relay.listen(0, '127.0.0.1', () => {
      process.stdout.write(`${(relay.address() as AddressInfo).port}\n`);
    });
  });
  server.stderr.resume();
  server.on('exit', (code) => process.exit(code ?? 0));
  // Whoever started it is gone.
  process.stdin.on('end', () => server.kill('SIGKILL')).resume();
}
