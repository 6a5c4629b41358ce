// The program of the thread in which a model runs.
import { parentPort, workerData } from 'node:worker_threads';
import { EspalierError } from '../../base/errors.ts';
import { localHost, type ModelSettings } from './model.ts';
import type { ThreadOrder, ThreadReply } from './thread.ts';

const host = localHost(workerData as ModelSettings);
const underWay = new Map<number, AbortController>();

parentPort?.on('message', (order: ThreadOrder) => {
  if (order.type === 'abort') underWay.get(order.id)?.abort();
  else void answer(order);
});

async function answer(order: Exclude<ThreadOrder, { type: 'abort' }>): Promise<void> {
  const { id } = order;
  const controller = new AbortController();
  underWay.set(id, controller);
  try {
    send({ id, value: await answerOf(order, controller.signal) });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    send({ id, message, ...(EspalierError.isInstance(error) && { code: error.code }) });
  } finally {
    underWay.delete(id);
  }
}

async function answerOf(order: Exclude<ThreadOrder, { type: 'abort' }>, signal: AbortSignal) {
  switch (order.type) {
    case 'generate':
      return host.generate(order.request, signal);
    case 'count':
      return host.count(order.messages);
    case 'load':
      await host.load();
      return host.stats();
    case 'stats':
      return host.stats();
  }
}

function send(reply: ThreadReply): void {
  parentPort?.postMessage(reply);
}
