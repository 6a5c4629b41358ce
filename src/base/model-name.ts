import { expectText } from './expect.ts';

/** The name of a model in journals, warnings and errors. */
export function modelName({
  provider,
  modelId,
}: {
  readonly provider: string;
  readonly modelId: string;
}): string {
  expectText('model.provider', provider);
  expectText('model.modelId', modelId);
  return `${provider}:${modelId}`;
}
