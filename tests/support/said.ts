import { asRead } from '../../src/base/as-read.ts';
import type { Message } from '../../src/contracts/language-model.ts';

/** What is said in messages, without what is for caches only. */
export function said(messages: readonly Message[] = []): readonly Message[] {
  return asRead(messages);
}
