/** The name of a model in journals, warnings and errors. */
export function modelName({
  provider,
  modelId,
}: {
  readonly provider: string;
  readonly modelId: string;
}): string {
  return `${provider}:${modelId}`;
}
