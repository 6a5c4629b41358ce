import { afterEach, expect, test, vi } from 'vitest';
import { listenForInterruption } from '../../src/cli/interruption.ts';

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
