import type { Capabilities } from '../contracts/language-model.ts';
import { expectObject } from './expect.ts';
import { expectOptions } from './expect-options.ts';

const names = 'n logprobs seed stop continuation schema tools images temperature topK batch';

/** Throws unless these are capabilities: one that is misspelt would count as missing. */
export function expectCapabilities(owner: string, capabilities: Capabilities): void {
  expectObject(owner, capabilities);
  expectOptions(owner, capabilities, names);
}
