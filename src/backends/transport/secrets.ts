/** The replacement of a secret in texts for people. */
const hidden = '[hidden]';

/** Patterns of keys that servers are known to repeat in their errors, completely or in part. */
const keyShapes = /\b(?:sk|pk|rk|key|api|hf|gsk|xai)[-_][A-Za-z0-9_*-]{6,}|\bBearer\s+\S+/g;

/** Known secrets; `undefined` means not given. */
export type KnownSecrets = Iterable<string | undefined>;

/** Removes keys from a text for people: known ones, and anything that looks like one. */
export function withoutSecrets(text: string, secrets: KnownSecrets = []): string {
  const known = patternOf(secrets, (secret) => secret.length >= 4);
  const cleaned = known === undefined ? text : text.replace(known, hidden);
  return cleaned.replace(keyShapes, hidden);
}

/** Removes known secrets from all texts of a value, including the names of fields. */
export function withoutSecretsIn<Value>(value: Value, secrets: KnownSecrets): Value {
  const known = patternOf(secrets, isTelling);
  return known === undefined ? value : (cleaned(value, known) as Value);
}

/** Words such as `none` and `ollama`, which are used as dummy keys, need not be removed from answers. */
function isTelling(secret: string): boolean {
  return secret.length >= 8 || (secret.length >= 6 && /[^A-Za-z]/.test(secret));
}

function patternOf(
  secrets: KnownSecrets,
  isMeant: (secret: string) => boolean,
): RegExp | undefined {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret === undefined || !isMeant(secret)) continue;
    for (const form of [secret, encodeURIComponent(secret)]) forms.add(form);
    forms.add(JSON.stringify(secret).slice(1, -1));
    if (isTelling(secret)) for (const form of base64FormsOf(secret)) forms.add(form);
  }
  if (forms.size === 0) return undefined;
  const longestFirst = [...forms].sort((one, other) => other.length - one.length);
  return new RegExp(
    longestFirst.map((form) => form.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&')).join('|'),
    'g',
  );
}

/** The invariant parts of a text's base64 form, at any offset in the encoded text, in both alphabets. */
function base64FormsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const start = Math.ceil((shift * 8) / 6);
    const form = encoded.slice(start, Math.floor(((shift + bytes.length) * 8) / 6));
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function cleaned(value: unknown, known: RegExp): unknown {
  if (typeof value === 'string') return value.replace(known, hidden);
  if (typeof value !== 'object' || value === null) return value;
  // Vectors are long, and contain no text.
  if (Array.isArray(value)) {
    return typeof value[0] === 'number' ? value : value.map((item) => cleaned(item, known));
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name.replace(known, hidden),
      cleaned(item, known),
    ]),
  );
}
