import { expect, test } from 'vitest';
import { loadPeer } from '../../../src/backends/transport/sdk.ts';
import { rejectionOf } from './stub-fetch.ts';

test('a package that is there is loaded', async () => {
  expect(await loadPeer('node:path', () => import('node:path'))).toHaveProperty('join');
});

test('a package that is missing is named, with what to run', async () => {
  const name = 'no-such-package';
  const error = await rejectionOf(
    loadPeer(name, () =>
      Promise.reject(Object.assign(new Error('x'), { code: 'ERR_MODULE_NOT_FOUND' })),
    ),
  );
  expect(error).toMatchObject({
    code: 'usage',
    message:
      'Expected the package `no-such-package` to be installed, but it is not. Run: npm install no-such-package',
  });
});

test('a package that fails on its own says so', async () => {
  const error = await rejectionOf(
    loadPeer('odd', () => Promise.reject(new Error('needs Node 30'))),
  );
  expect(error).toMatchObject({
    code: 'usage',
    message: 'The package `odd` cannot be loaded: needs Node 30',
  });
});
