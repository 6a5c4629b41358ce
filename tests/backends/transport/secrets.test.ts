import { expect, test } from 'vitest';
import { expectConnection, secretsOf } from '../../../src/backends/transport/connection.ts';
import { withoutSecrets } from '../../../src/backends/transport/secrets.ts';

test('secrets that are known are hidden wherever they stand', () => {
  const text = 'my-word and my-word, and xmy-wordx';
  expect(withoutSecrets(text, ['my-word'])).toBe('[hidden] and [hidden], and x[hidden]x');
});

test('what looks like a key is hidden, known or not', () => {
  expect(withoutSecrets('got sk-proj-abcdef12 here')).toBe('got [hidden] here');
  expect(withoutSecrets('sent Bearer abc.def, and more')).toBe('sent [hidden] and more');
  expect(withoutSecrets('masked: sk-ab********yz')).toBe('masked: [hidden]');
});

test('words are not taken for secrets', () => {
  expect(withoutSecrets('a task, a key, an api', ['', undefined, 'a'])).toBe(
    'a task, a key, an api',
  );
});

test('the secrets of a connection are its key and what its headers tell', () => {
  const headers = { Authorization: 'Bearer word-1', 'X-Api-Key': 'word-2', accept: 'text/plain' };
  expect(secretsOf({ apiKey: 'word-0', headers })).toEqual([
    'word-0',
    'Bearer word-1',
    'word-1',
    'word-2',
    'word-2',
  ]);
});

test('a connection that cannot be made is refused without showing a password', () => {
  expect(() => expectConnection({ baseUrl: 'http://me:word@host' })).toThrow(
    'Expected `baseUrl` to be an address without a user name; give a key as `apiKey`, got `"http://…@host"`.',
  );
  expect(() => expectConnection({ baseUrl: 'localhost:8000' })).toThrow(
    'Expected `baseUrl` to be an address that begins with http:// or https://, got `"localhost:8000"`.',
  );
  expect(() => expectConnection({ apiKey: ' ' })).toThrow(
    'Expected `apiKey` to be a string that is not empty, got `"string"`.',
  );
  expect(() => expectConnection({ timeoutMs: 0 })).toThrow(
    'Expected `timeoutMs` to be a finite number from 1 up, got `0`.',
  );
});
