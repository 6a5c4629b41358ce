import { EspalierError } from '../base/errors.ts';
import { readInput } from '../runs/input-file.ts';

/**
 * The chat template of a Jinja file, or of the `tokenizer_config.json` of a model. Where that one lists several, it is
 * `default`, or the one named behind the path: `tokenizer_config.json#tool_use`.
 *
 * @throws EspalierError `usage` if there is none, or nothing in it.
 */
export function readTemplate(path: string): string {
  const [, file = path, name] = /^(.*\.json)#([^#]+)$/.exec(path) ?? [];
  const text = readInput(file);
  const template = file.endsWith('.json') ? templateIn(text, name) : text;
  if (typeof template !== 'string') {
    const wanted = name === undefined ? '' : ` named \`${name}\``;
    throw new EspalierError('usage', `Expected \`${file}\` to hold a \`chat_template\`${wanted}.`);
  }
  if (/\bmessages\b/.test(template)) return template;
  const got = template.trim() === '' ? 'an empty text' : 'one that never mentions `messages`';
  throw new EspalierError('usage', `Expected \`${path}\` to be a chat template, got ${got}.`);
}

function templateIn(text: string, name: string | undefined): unknown {
  const template = configIn(text)?.chat_template;
  if (!Array.isArray(template)) return name === undefined ? template : undefined;
  const listed = template as readonly ({ name?: unknown; template?: unknown } | null)[];
  return listed.find((each) => each?.name === (name ?? 'default'))?.template;
}

function configIn(text: string): { readonly chat_template?: unknown } | null {
  try {
    return JSON.parse(text) as { readonly chat_template?: unknown } | null;
  } catch {
    return null;
  }
}
