import { expect, test } from 'vitest';
import { nearestName } from '../../src/base/nearest-name.ts';

test.each([
  ['olama', ['llama', 'ollama'], 'ollama'],
  ['terminated', ['state', 'terminal'], 'terminal'],
  ['lama', ['llama', 'ollama'], 'llama'],
  ['xyz', ['llama', 'ollama'], undefined],
] as const)('%s is near to one name', (written, names, meant) => {
  expect(nearestName(written, names)).toBe(meant);
});
