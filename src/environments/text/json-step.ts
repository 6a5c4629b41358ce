import { describeValue } from '../../base/expect.ts';
import { isPlainObject } from '../../base/json.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { JsonValue } from '../../contracts/json.ts';
import { joinParts } from './step-text.ts';

/** A step as JSON. The strict modes of servers require that all members are required and no others are allowed. */
export const stepSchema: JsonValue = {
  type: 'object',
  properties: {
    step: { type: 'string' },
    answer: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
  required: ['step', 'answer'],
  additionalProperties: false,
};

/** A step as a model would write it in JSON. */
export function jsonStep(step: string, answer: string | undefined): string {
  return JSON.stringify({ step, answer: answer ?? null });
}

/** Reads `{ "step": …, "answer": … }`, or a bare string as a step without an answer. The text of a step may be empty. */
export function readJsonStep(
  text: string,
  delimiter: string,
): Failed | { readonly step: string; readonly answer: string | undefined } {
  const json = parsed(text);
  if (typeof json === 'string') return { step: joinParts(json, delimiter), answer: undefined };
  if (!isPlainObject(json)) return failure(describeText(text));
  const { step = '', answer = null } = json;
  if (typeof step !== 'string') return failure(`${describeValue(step)} for \`step\``);
  if (!['string', 'number', 'boolean'].includes(typeof answer) && answer !== null) {
    return failure(`${describeValue(answer)} for \`answer\``);
  }
  const written = answer === null ? '' : String(answer).trim();
  return { step: joinParts(step, delimiter), answer: written === '' ? undefined : written };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function describeText(text: string): string {
  const shown = text.trim();
  return `\`${shown.length > 80 ? `${shown.slice(0, 79)}…` : shown}\``;
}

function failure(got: string): Failed {
  const message = `Expected a step such as \`{"step": "2 + 3 = 5", "answer": null}\`, got ${got}.`;
  return { failure: { kind: 'parse', message } };
}
