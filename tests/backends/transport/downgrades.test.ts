import { describe, expect, test } from 'vitest';
import { Downgrades } from '../../../src/backends/transport/downgrades.ts';
import { ModelCallError } from '../../../src/index.ts';
import { notedCall, rejectionOf } from './stub-fetch.ts';

function refusal(parameter: string | undefined): ModelCallError {
  return new ModelCallError({ kind: 'capability', message: `No ${parameter}.`, parameter });
}

describe('downgrades', () => {
  test('leave out what is refused, one thing after another, and say each once', async () => {
    const downgrades = new Downgrades('maker:m', { n: true, seed: true, stop: true });
    const call = notedCall();
    let sent = 0;
    const attempt = async () => {
      sent++;
      if (!downgrades.has('n')) throw refusal('n');
      if (!downgrades.has('logprobs')) throw refusal('top_logprobs');
      return 'done';
    };
    expect(await downgrades.send(attempt, call)).toBe('done');
    expect(sent).toBe(3);
    expect(await downgrades.send(attempt, call)).toBe('done');
    expect(sent).toBe(4);
    expect(call.warnings).toEqual([
      {
        model: 'maker:m',
        about: 'n',
        message: 'maker:m does not honour `n`: several samples are requested one by one.',
      },
      {
        model: 'maker:m',
        about: 'logprobs',
        message: 'maker:m does not honour `logprobs`: answers come without log-probabilities.',
      },
    ]);
    expect(downgrades.capabilities).toEqual({ n: false, seed: true, stop: true });
  });

  test('give up where the refusal names what is left out already, or nothing that is known', async () => {
    const downgrades = new Downgrades('maker:m', {});
    const call = notedCall();
    for (const parameter of ['seed', 'messages', undefined]) {
      const error = refusal(parameter);
      expect(await rejectionOf(downgrades.send(() => Promise.reject(error), call))).toBe(error);
    }
    expect(call.warnings.map(({ about }) => about)).toEqual(['seed']);
  });

  test('pass other errors on', async () => {
    const downgrades = new Downgrades('maker:m', {});
    const error = new ModelCallError({ kind: 'bad-request', message: 'No.', parameter: 'n' });
    expect(await rejectionOf(downgrades.send(() => Promise.reject(error), notedCall()))).toBe(
      error,
    );
  });

  test('spare calls at the same time what one of them found out', async () => {
    const downgrades = new Downgrades('maker:m', { n: true });
    const call = notedCall();
    const attempt = async () => {
      const isLeftOut = downgrades.has('n');
      await Promise.resolve();
      if (!isLeftOut) throw refusal('n');
      return 'done';
    };
    const both = await Promise.all([
      downgrades.send(attempt, call),
      downgrades.send(attempt, call),
    ]);
    expect(both).toEqual(['done', 'done']);
    expect(call.warnings).toHaveLength(1);
  });

  test('do not invent capabilities that were never claimed', () => {
    const downgrades = new Downgrades('maker:m', { stop: true });
    expect(downgrades.drop('topP', notedCall())).toBe(true);
    expect(downgrades.drop('topP', notedCall())).toBe(false);
    expect(downgrades.capabilities).toEqual({ stop: true });
  });
});
