import { isObject, type JsonObject, listOf, numberAt, objectOf, textAt } from '../fields.ts';
import { Rejection } from '../rejection.ts';

/** Whether a model thinks before it writes: o1 and later, gpt-5 and later, except their chat variants. */
export function isReasoningModel(model: string): boolean {
  const generation = /^gpt-(\d+)/.exec(model)?.[1];
  if (/^o\d/.test(model)) return true;
  return generation !== undefined && Number(generation) >= 5 && !model.includes('-chat');
}

/** Whether reasoning can be switched off, which allows the parameters of other models. */
function mayRest(model: string): boolean {
  return /^gpt-(5\.[1-6]|6-sol|6-luna|6\.1-terra)/.test(model);
}

/** Refuses parameters that a reasoning model does not support. `effort` is the requested reasoning effort. */
export function checkReasoning(body: JsonObject, effort: string | undefined): void {
  const model = textAt(body, 'model') ?? '';
  if (!isReasoningModel(model)) return;
  if (effort === 'none' && !mayRest(model)) throw unsupportedValue('reasoning_effort', "'none'");
  const isResting = effort === 'none';
  for (const name of ['presence_penalty', 'frequency_penalty', 'logit_bias']) {
    if (body[name] !== undefined) throw unsupportedParameter(name);
  }
  if (body['max_tokens'] !== undefined) {
    throw unsupportedParameter('max_tokens', " Use 'max_completion_tokens' instead.");
  }
  if (!isResting) checkSampling(body);
}

function checkSampling(body: JsonObject): void {
  const temperature = numberAt(body, 'temperature') ?? 1;
  if (temperature !== 1) {
    throw unsupportedValue(
      'temperature',
      String(temperature),
      ' Only the default (1) value is supported.',
    );
  }
  const { top_p: topP, logprobs } = body as Partial<JsonObject>;
  if (topP !== undefined && topP !== 1) throw unsupportedParameter('top_p');
  if (logprobs !== undefined && logprobs !== false) throw unsupportedParameter('logprobs');
  for (const name of ['top_logprobs', 'stop']) {
    if (body[name] !== undefined && body[name] !== null) throw unsupportedParameter(name);
  }
}

/** Refuses prefix marks for models without them: those before gpt-5.6. A name without a version supports them. */
export function checkMarks(body: JsonObject): void {
  const version = /^gpt-(\d+)(?:\.(\d+))?/.exec(textAt(body, 'model') ?? '');
  if (version === null || Number(version[1]) + Number(version[2] ?? 0) / 100 >= 5.06) return;
  if (body['prompt_cache_options'] !== undefined)
    throw unsupportedParameter('prompt_cache_options');
  const turns = [...listOf(body['messages']), ...listOf(body['input'])].map(objectOf);
  const parts = turns.flatMap((turn) => listOf(turn['content'])).map(objectOf);
  if (parts.some((part) => part['prompt_cache_breakpoint'] !== undefined)) {
    throw unsupportedParameter('prompt_cache_breakpoint');
  }
}

const ranges = {
  n: ['integer', 1, 128],
  temperature: ['decimal', 0, 2],
  top_p: ['decimal', 0, 1],
  top_logprobs: ['integer', 0, 20],
} as const;

/** Refuses numbers out of range. */
export function checkRanges(body: JsonObject): void {
  for (const [name, [kind, low, high]] of Object.entries(ranges)) {
    const given = numberAt(body, name);
    if (given === undefined || (given >= low && given <= high)) continue;
    const [side, sign, bound] =
      given < low ? (['below min', '>=', low] as const) : (['above max', '<=', high] as const);
    throw new Rejection({
      status: 400,
      message: `Invalid '${name}': ${kind} ${side}imum value. Expected a value ${sign} ${bound}, but got ${given} instead.`,
      code: `${kind}_${side.replace(' ', '_')}_value`,
      param: name,
    });
  }
}

/** The effort in the form of Chat Completions or of Responses. */
export function effortOf(body: JsonObject): string | undefined {
  const { reasoning } = body as Partial<JsonObject>;
  return isObject(reasoning) ? textAt(reasoning, 'effort') : textAt(body, 'reasoning_effort');
}

/** The error for a parameter that a model does not support. */
export function unsupportedParameter(name: string, advice = ''): Rejection {
  return new Rejection({
    status: 400,
    message: `Unsupported parameter: '${name}' is not supported with this model.${advice}`,
    code: 'unsupported_parameter',
    param: name,
  });
}

function unsupportedValue(name: string, value: string, advice = ''): Rejection {
  return new Rejection({
    status: 400,
    message: `Unsupported value: '${name}' does not support ${value} with this model.${advice}`,
    code: 'unsupported_value',
    param: name,
  });
}
