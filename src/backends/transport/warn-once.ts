import type { ModelCall } from '../../contracts/language-model.ts';

/** Says something about a model, once for each thing that it is about. */
export type WarnOnce = (call: Pick<ModelCall, 'warn'>, about: string, what: string) => void;

/** Warnings that are not said again with every call. @param model - The model, as `provider:modelId`. */
export function warningsOf(model: string): WarnOnce {
  const said = new Set<string>();
  return (call, about, what) => {
    if (said.has(about)) return;
    said.add(about);
    call.warn?.({ model, about, message: `${model} ${what}` });
  };
}
