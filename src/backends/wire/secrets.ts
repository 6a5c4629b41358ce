/** What stands in for a secret in texts that people read. */
const hidden = '[hidden]';

/** Shapes of keys that servers are known to repeat in their errors, whole or in part. */
const keyShapes = /\b(?:sk|pk|rk|key|api|hf|gsk|xai)[-_][A-Za-z0-9_*-]{6,}|\bBearer\s+\S+/g;

/** Takes keys out of a text: those that are known, and whatever looks like one. */
export function withoutSecrets(
  text: string,
  secrets: readonly (string | undefined)[] = [],
): string {
  const known = secrets.filter((secret) => secret !== undefined && secret.length >= 4);
  const cleaned = known.reduce<string>(
    (rest, secret) => rest.replaceAll(secret as string, hidden),
    text,
  );
  return cleaned.replace(keyShapes, hidden);
}
