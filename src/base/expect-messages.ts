import type { Message } from '../contracts/language-model.ts';
import { expectArray, expectation, expectObject, expectOneOf } from './expect.ts';
import { expectOptions } from './expect-options.ts';

/** Throws unless `messages` is a conversation, which may be empty. */
export function expectMessages(messages: readonly Message[]): void {
  expectArray('messages', messages);
  for (const [place, message] of messages.entries()) {
    expectObject(`messages[${place}]`, message);
    expectOptions(`messages[${place}]`, message, 'role content toolCalls toolCallId');
    const { role, content } = message;
    expectOneOf(`messages[${place}].role`, role, ['system', 'user', 'assistant', 'tool']);
    if (typeof content !== 'string') {
      throw expectation(`messages[${place}].content`, 'a string', content);
    }
  }
}
