/** A group of files, as the card of a dataset declares it; `*` in the pattern of its paths is anything but a slash. */
type DeclaredFiles = Readonly<Record<'config' | 'pattern' | 'split', string>>;

/**
 * The files that a card declares, as the Hugging Face Hub reads them: `configs`, each with a `config_name` and
 * `data_files`. Only the forms of YAML that cards use are understood; whatever else is there is passed over.
 *
 * @param card - The text of a `README.md`.
 */
export function declaredFiles(card: string): readonly DeclaredFiles[] {
  const matter = /^---\r?\n([\s\S]*?)\r?\n---/.exec(card)?.[1] ?? '';
  const lines = matter.split(/\r?\n/);
  const start = lines.findIndex((line) => /^configs:\s*$/.test(line));
  const files: DeclaredFiles[] = [];
  let config = 'default';
  let split = 'train';
  for (const line of start < 0 ? [] : lines.slice(start + 1)) {
    // A key of the first level ends the list.
    if (/^[A-Za-z_]/.test(line)) break;
    const keys = keysOf(line);
    const name = keys.get('config_name');
    if (name !== undefined) [config, split] = [name, 'train'];
    split = keys.get('split') ?? split;
    const pattern = keys.get('path') ?? keys.get('data_files') ?? keys.get('');
    if (pattern !== undefined) files.push({ config, split, pattern });
  }
  return files;
}

/** The keys of a line with their values; a list item that is only text is under `''`. */
function keysOf(line: string): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const [, key = '', value = ''] of line.matchAll(pair)) keys.set(key, unquoted(value));
  const item = /^-\s(.*)$/.exec(line.trim())?.[1];
  const path = unquoted(item ?? '');
  if (path !== '' && !/[:{}[\]"']/.test(path)) keys.set('', path.trim());
  return keys;
}

/** `key: value`, in a block or between braces. */
const pair = /(?<![A-Za-z_])([A-Za-z_]+):\s*("[^"]*"|'[^']*'|[^,{}[\]\s][^,{}[\]]*)/g;

function unquoted(value: string): string {
  return value.trim().replace(/^(["'])(.*)\1$/, '$2');
}
