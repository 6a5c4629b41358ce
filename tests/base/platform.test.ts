import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as browser from '../../src/base/platform/browser.ts';
import * as node from '../../src/base/platform/node.ts';
import { property } from '../support/property.ts';

describe.each([
  ['node', node],
  ['browser', browser],
])('the platform %s', (_name, { byteLength, letManyListen, openScope, sha256, turn }) => {
  property([fc.uint8Array()])('hashes bytes', (bytes) => {
    expect(sha256(bytes)).toBe(createHash('sha256').update(bytes).digest('base64url'));
  });

  property([fc.string({ unit: 'binary' })])(
    'reads texts as UTF-8, also halves of surrogates',
    (text) => {
      const bytes = Buffer.from(text);
      expect(byteLength(text)).toBe(bytes.length);
      expect(sha256(text)).toBe(createHash('sha256').update(bytes).digest('base64url'));
    },
  );

  test('knows what a call runs inside of, until it has settled', async () => {
    const scope = openScope<string>();
    const seen: (string | undefined)[] = [scope.getStore()];
    const inside = scope.run('outer', async () => {
      seen.push(scope.getStore());
      await turn();
      seen.push(scope.run('inner', () => scope.getStore()));
      seen.push(scope.getStore());
    });
    await inside;
    await turn();
    expect([...seen, scope.getStore()]).toEqual([undefined, 'outer', 'inner', 'outer', undefined]);
  });

  test('forgets what threw', async () => {
    const scope = openScope<string>();
    const thrown = () => {
      throw new Error('No.');
    };
    expect(() => scope.run('one', thrown)).toThrow('No.');
    await expect(scope.run('two', () => Promise.reject(new Error('No.')))).rejects.toThrow('No.');
    await turn();
    expect(scope.getStore()).toBeUndefined();
  });

  test('turns once the promises at hand have settled', async () => {
    let settled = 0;
    const work = (async () => {
      for (; settled < 100; settled++) await Promise.resolve();
    })();
    await turn();
    expect(settled).toBe(100);
    await work;
  });

  test('lets many listen without a warning', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const { signal } = new AbortController();
    letManyListen(signal);
    // Only that of Node would warn, which the other is not made for.
    const listeners = openScope === node.openScope ? 50 : 1;
    for (let count = 0; count < listeners; count++) signal.addEventListener('abort', () => {});
    await turn();
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});
