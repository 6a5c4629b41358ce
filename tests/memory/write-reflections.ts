/** `node --import tsx write-reflections.ts FILE NAME COUNT`: adds reflections one by one, and the same at its end. */
import { jsonLinesStore } from '../../src/memory/json-lines-store.ts';
import { makeReflection } from '../../src/memory/reflection.ts';

const [path = '', name = '', count = '0'] = process.argv.slice(2);
const store = jsonLinesStore(path);
const source = { environment: 'house', node: 1, expected: 1, realised: 0, model: 'test:writer' };
function add(situation: string): void {
  const content = { task: 'open the door', action: 'push', outcome: 'shut', lesson: 'Pull.' };
  store.add([makeReflection({ kind: 'policy', situation, source, ...content })]);
}
process.stdout.write('ready\n');
process.stdin.once('data', () => {
  for (let number = 0; number < Number(count); number++)
    add(`${name} ${number} ${'x'.repeat(500)}`);
  add('shared');
  process.exit(0);
});
