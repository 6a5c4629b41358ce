import type { Capabilities } from '../contracts/language-model.ts';
import { expectMethods, expectObject } from './expect.ts';
import { expectOptions } from './expect-options.ts';

const names = 'n logprobs seed stop continuation schema tools images temperature topK batch';

/** Throws unless these are capabilities: a misspelt one would count as missing. */
export function expectCapabilities(owner: string, capabilities: Capabilities): void {
  expectObject(owner, capabilities);
  expectOptions(owner, capabilities, names);
}

/** Throws unless this is a language model with capabilities. */
export function expectModel(owner: string, model: unknown): void {
  expectMethods(owner, model, ['generate']);
  expectObject(`${owner}.capabilities`, Object(model).capabilities);
}
