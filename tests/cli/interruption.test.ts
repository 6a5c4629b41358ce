import { afterEach, expect, test, vi } from 'vitest';
import { listenForInterruption } from '../../src/cli/interruption.ts';
import { plainContext, scriptedModel } from '../../src/testing/index.ts';

const before = process.listeners('SIGINT');
afterEach(() => {
  vi.restoreAllMocks();
  for (const listener of process.listeners('SIGINT')) {
    if (!before.includes(listener)) process.off('SIGINT', listener);
  }
});

test('the first Ctrl-C asks for an end and says so, a second one ends the process at once', () => {
  const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  const interruption = listenForInterruption();
  expect(interruption.requested).toBe(false);

  process.emit('SIGINT');
  expect(interruption.requested).toBe(true);
  expect(told).toHaveBeenCalledExactlyOnceWith(
    'Stopping when the calls in flight have ended: they are paid for. Press Ctrl-C again to stop at once.\n',
  );
  now.mockReturnValue(1_100);
  process.emit('SIGINT');
  expect(exit).not.toHaveBeenCalled();

  now.mockReturnValue(1_500);
  process.emit('SIGINT');
  expect(exit).toHaveBeenCalledExactlyOnceWith(130);
});

test('models are no longer asked after it', async () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const model = scriptedModel({ answer: () => 'up' });
  const interruption = listenForInterruption();
  const guarded = interruption.guard({ model, judgeModel: model });
  const request = { messages: [{ role: 'user', content: 'Next?' }] } as const;
  await guarded.model?.generate(request, plainContext());
  process.emit('SIGINT');
  for (const asked of [guarded.model, guarded.judgeModel]) {
    await expect(asked?.generate(request, plainContext())).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Ended by Ctrl-C.',
    });
  }
  expect(model.requests).toHaveLength(1);
});
