import { visible } from '../../base/visible.ts';

/** Names of models, problems and files are data: their text can end no code span and begin no HTML. */
export function codeSpan(text: string): string {
  const line = oneLine(text);
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const padding = line === '' || line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${padding}${line}${padding}${fence}`;
}

/** Prose of others on one line, with all signs of Markdown taken literally. */
export function prose(text: string): string {
  return oneLine(text).replace(/[\\`*_{}[\]<>#|~&$!:@]/g, (sign) => `\\${sign}`);
}

/** A string as YAML reads it back: JSON is YAML. */
export function yamlString(text: string): string {
  return JSON.stringify(oneLine(text));
}

function oneLine(text: string): string {
  const line = visible(text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')).trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}
