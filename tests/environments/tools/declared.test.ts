import { expect, test } from 'vitest';
import * as z from 'zod';
import { toolEnvironment } from '../../../src/environments/index.ts';
import { generate } from '../../../src/runs/index.ts';

test('an input that is no object is told by its type', () => {
  const declare = () =>
    toolEnvironment(null, {
      ...{ name: 'a', task: 'b' },
      tools: (tool) => ({ a: tool({ input: z.string(), effect: 'read', run: () => 1 }) }),
    });
  expect(declare).toThrow(
    'Expected `input of a` to be the schema of an object, such as `z.object({ … })`, got one with the type "string".',
  );
});

test('the path of a run is told to be opened', () => {
  const options = { run: 'runs/x', problems: [], plan: () => ({}) } as never;
  expect(() => generate(options)).toThrow(
    'Expected `run` to be an open run, such as `openRun("runs/x")`, got `"runs/x"`.',
  );
});
