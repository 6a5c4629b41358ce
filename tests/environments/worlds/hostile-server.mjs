// A server of worlds that misbehaves as it is told: `node hostile-server.mjs fault`.
import { createInterface } from 'node:readline';

const [, , fault] = process.argv;
let steps = 0;
const say = (text) => process.stdout.write(`${text}\n`);

function answer({ id, method }) {
  if (method === 'hello') return { id, result: { forks: fault.startsWith('silent on') } };
  if (method === 'fork') return { id, result: { handle: 'copy' } };
  if (method === 'restore' || method === 'close') return { id, result: {} };
  const seen = { observation: `step ${steps}` };
  if (method === 'reset') return { id, result: { handle: 'h', seen } };
  steps++;
  return { id, result: { observation: `step ${steps}`, reward: 0.5, terminal: steps > 2 } };
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (fault === `silent on ${request.method}`) continue;
  const told = answer(request);
  if (request.method !== 'step') {
    say(JSON.stringify(told));
    continue;
  }
  switch (fault) {
    case 'garbage':
      say('\u0000\u001b[31m{"id": nothing');
      break;
    case 'long':
      process.stdout.write('x'.repeat(50_000_000));
      break;
    case 'silent':
      break;
    case 'exit':
      process.stderr.write(`${'It ran out of memory.'}\n`);
      process.exit(3);
      break;
    case 'no id':
      say('{"result":{}}');
      break;
    case 'no message':
      say(JSON.stringify({ id: request.id, error: { message: { toString: 1 } } }));
      break;
    case 'wrong id':
      say(JSON.stringify({ ...told, id: 999 }));
      break;
    case 'twice':
      say(`${JSON.stringify(told)}\n${JSON.stringify(told)}`);
      break;
    case 'shape':
      say(JSON.stringify({ id: request.id, result: { reward: 'much' } }));
      break;
    case 'error':
      say(JSON.stringify({ id: request.id, error: { message: 'No such move.' } }));
      break;
    default:
      say(JSON.stringify(told));
  }
}
if (fault === 'stays') setInterval(() => {}, 1_000);
