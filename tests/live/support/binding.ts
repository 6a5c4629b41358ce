/** node-llama-cpp, as `verify:tiny` installs it. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './packages.ts';

/** The module of the package. */
export const bindingPath: string = join(
  root,
  'tests/verify/llama-cpp/node_modules/node-llama-cpp/dist/index.js',
);

/** What is used of the package in these tests. */
export interface Binding {
  getLlama(options: {
    readonly build: 'never';
    readonly skipDownload: true;
    readonly gpu: false;
    readonly maxThreads: 1;
    readonly logLevel: 'error';
  }): Promise<BindingLlama>;
}

/** llama.cpp, started. */
export interface BindingLlama {
  readonly disposed: boolean;
  loadModel(options: { readonly modelPath: string }): Promise<BindingModel>;
  dispose(): Promise<void>;
}

/** A model of the package. */
export interface BindingModel {
  readonly disposed: boolean;
  readonly filename?: string | undefined;
  createContext(options?: object): Promise<object>;
  tokenize(text: string, specialTokens: boolean): readonly number[];
  dispose(): Promise<void>;
}

/** llama.cpp on one thread, as a user starts it. */
export async function ownLlama(): Promise<BindingLlama> {
  const { getLlama } = (await import(pathToFileURL(bindingPath).href)) as Binding;
  const common = { build: 'never', skipDownload: true, gpu: false, maxThreads: 1 } as const;
  return getLlama({ ...common, logLevel: 'error' });
}
