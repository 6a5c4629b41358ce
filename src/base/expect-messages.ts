import type { Message } from '../contracts/language-model.ts';
import {
  expectArray,
  expectation,
  expectInteger,
  expectObject,
  expectOneOf,
  expectText,
} from './expect.ts';
import { expectOptions } from './expect-options.ts';

/** Throws unless `messages` is a conversation, which may be empty. */
export function expectMessages(messages: readonly Message[], name: string = 'messages'): void {
  expectArray(name, messages);
  for (const [place, message] of messages.entries()) {
    expectObject(`${name}[${place}]`, message);
    expectOptions(
      `${name}[${place}]`,
      message,
      'role content prefixEnds toolCalls toolCallId images original',
    );
    const { role, content, prefixEnds = [], images = [], original } = message;
    expectOneOf(`${name}[${place}].role`, role, ['system', 'user', 'assistant', 'tool']);
    if (typeof content !== 'string') {
      throw expectation(`${name}[${place}].content`, 'a string', content);
    }
    expectPrefixEnds(`${name}[${place}].prefixEnds`, prefixEnds, content.length);
    expectImages(`${name}[${place}].images`, images);
    if (images.length > 0 && role !== 'user' && role !== 'tool') {
      throw expectation(`${name}[${place}].images`, 'absent, or shown by the user or a tool', role);
    }
    if (original !== undefined) {
      expectOptions(`${name}[${place}].original`, original, 'provider data');
      expectText(`${name}[${place}].original.provider`, original.provider);
    }
  }
}

function expectPrefixEnds(name: string, ends: readonly number[], length: number): void {
  expectArray(name, ends);
  let least = 0;
  for (const [place, end] of ends.entries()) {
    expectInteger(`${name}[${place}]`, end, { min: least, max: length });
    least = end;
  }
}

function expectImages(name: string, images: NonNullable<Message['images']>): void {
  expectArray(name, images);
  for (const [place, image] of images.entries()) {
    expectObject(`${name}[${place}]`, image);
    expectOptions(`${name}[${place}]`, image, 'mediaType base64');
    expectText(`${name}[${place}].mediaType`, image.mediaType);
    expectText(`${name}[${place}].base64`, image.base64);
  }
}
