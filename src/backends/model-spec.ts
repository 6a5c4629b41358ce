import type { EspalierError } from '../base/errors.ts';
import { expectation, gotten, refusalOf } from '../base/expect.ts';
import { nearestName } from '../base/nearest-name.ts';
import { hosts, isHosted, type ServerPreset, servers } from './openai-compatible/presets.ts';

/** A parsed model spec. Missing parts have the defaults of the model's kind. */
export type ModelSpec =
  /** The model in this package, or a small GGUF file in this process. */
  | { readonly kind: 'tiny'; readonly path?: string }
  /** A GGUF file in this process, through llama.cpp. */
  | { readonly kind: 'llama'; readonly path: string }
  /** A hosted model. */
  | {
      readonly kind: 'anthropic' | 'openai';
      readonly model: string;
      readonly baseUrl?: string;
    }
  /** Your own server: of a known kind, at an address, or both; or a provider and its model. */
  | {
      readonly kind: 'server';
      readonly server?: Exclude<ServerPreset, 'generic'>;
      readonly baseUrl?: string;
      readonly model?: string;
    }
  /** The journal of a run: its folder or file, and the model in it. */
  | { readonly kind: 'replay'; readonly path: string; readonly model?: string };

/** The prefixes of model specs, before the colon or alone. */
export const modelProviders: readonly string[] = [
  ...['tiny', 'llama', 'anthropic', 'openai'],
  ...hosts,
  ...servers,
  'replay',
];

/** The forms of model specs, for messages and help. */
export const modelSpecForms: readonly string[] = [
  'tiny',
  'tiny:FILE.gguf',
  'llama:FILE.gguf',
  'anthropic:MODEL',
  'openai:MODEL',
  ...hosts.map((host) => (host === 'azure' ? 'azure:DEPLOYMENT' : `${host}:MODEL`)),
  ...servers,
  'SERVER:MODEL',
  'SERVER:http://HOST:PORT#MODEL',
  'http://HOST:PORT#MODEL',
  'replay:RUN',
];

/**
 * Parses a model spec. Nothing is loaded, opened or contacted.
 *
 * @throws EspalierError `usage`, listing the known forms.
 */
export function parseModelSpec(spec: string): ModelSpec {
  if (typeof spec !== 'string') throw unknownSpec(spec);
  if (isAddress(spec)) return { kind: 'server', ...placeOf(spec, spec) };
  const colon = spec.indexOf(':');
  const name = colon < 0 ? spec : spec.slice(0, colon);
  const rest = colon < 0 ? undefined : spec.slice(colon + 1);
  switch (name) {
    case 'tiny':
      return rest === undefined ? { kind: name } : { kind: name, path: named(rest, spec, aFile) };
    case 'llama':
      return { kind: name, path: named(rest, spec, aFile) };
    case 'anthropic':
      return { kind: name, ...hostedAt(rest, spec, 'claude-sonnet-5-5') };
    case 'openai':
      return { kind: name, ...hostedAt(rest, spec, 'gpt-6-luna') };
    case 'replay':
      return replayOf(named(rest, spec, 'a run, as in replay:runs/first'), spec);
    default:
      return serverOf(name, rest, spec);
  }
}

/** A model of a provider with its own SDK, at the usual address or another one. */
function hostedAt(
  rest: string | undefined,
  spec: string,
  example: string,
): { readonly baseUrl?: string; readonly model: string } {
  const [provider = spec] = spec.split(':');
  if (rest === undefined || !isAddress(rest)) {
    return { model: named(rest, spec, `a model, as in ${provider}:${example}`) };
  }
  const { baseUrl, model } = placeOf(rest, spec);
  const what = `a model after #, as in ${provider}:https://HOST/v1#${example}`;
  return { baseUrl, model: named(model, spec, what) };
}

const aFile = 'a GGUF file, as in tiny:./model.gguf or llama:./model.gguf';

function serverOf(name: string, rest: string | undefined, spec: string): ModelSpec {
  const server = [...servers, ...hosts].find((known) => known === name);
  if (server === undefined) throw unknownSpec(spec);
  if (rest === undefined && !isHosted(server)) return { kind: 'server', server };
  if (rest !== undefined && isAddress(rest)) {
    const place = placeOf(rest, spec);
    if (!isHosted(server)) return { kind: 'server', server, ...place };
    const model = named(
      place.model,
      spec,
      `a model after #, as in ${server}:https://HOST/v1#MODEL`,
    );
    return { kind: 'server', server, ...place, model };
  }
  if (rest?.includes('://') || /^(localhost|[\d.]+|\[[^\]]*\])(:\d+)?(\/|#|$)/i.test(rest ?? '')) {
    throw expectation(
      'model',
      `an address with http:// or https://, as in ${server}:http://${withoutUser(rest ?? '').replace(/^\w*:\/\//, '')}`,
      withoutUser(spec),
    );
  }
  if (rest !== undefined && /^\/(v\d+)?\/?$/.test(rest)) {
    const example = `${server}:http://HOST:PORT${rest}`;
    throw expectation('model', `a model or an address, as in ${server}:MODEL or ${example}`, spec);
  }
  return { kind: 'server', server, model: named(rest, spec, `a model, as in ${server}:MODEL`) };
}

/** The address and the model in `http://host/v1#model`. */
function placeOf(
  place: string,
  spec: string,
): { readonly baseUrl: string; readonly model?: string } {
  const [baseUrl, model] = halves(place);
  if (!URL.canParse(baseUrl)) {
    throw expectation('model', 'a spec with an address that can be read', withoutUser(spec));
  }
  if (/^\w+:\/\/[^/]*@/.test(baseUrl)) {
    throw expectation('model', 'a spec without a user name or a key', withoutUser(spec));
  }
  if (baseUrl.includes('?')) {
    const shown = withoutUser(spec).replace(/\?[^#]*/, '?…');
    const expected = 'an address without a query: the key goes in an environment variable';
    throw expectation('model', expected, shown);
  }
  if (model === undefined) return { baseUrl };
  return { baseUrl, model: named(model, spec, 'a model after #') };
}

function replayOf(rest: string, spec: string): ModelSpec {
  const [path, model] = halves(rest);
  if (model === undefined) return { kind: 'replay', path };
  return {
    kind: 'replay',
    path: named(path, spec, 'a run, as in replay:runs/first'),
    model: named(model, spec, 'a model after #'),
  };
}

/** The parts before and after the first `#`. */
function halves(text: string): readonly [string, string | undefined] {
  const place = text.indexOf('#');
  return place < 0 ? [text, undefined] : [text.slice(0, place), text.slice(place + 1)];
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** A required part of a spec. */
function named(part: string | undefined, spec: string, what: string): string {
  if (part === undefined || part.trim() === '') {
    throw expectation('model', `a spec that names ${what}`, withoutUser(spec));
  }
  return part;
}

/** The beginnings of model names that are often given without a provider. */
const makers: readonly (readonly [RegExp, string])[] = [
  [/^(gpt|o\d)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'gemini'],
];

function unknownSpec(spec: unknown): EspalierError {
  const [provider = '', ...rest] = typeof spec === 'string' ? spec.split(':') : [];
  // A model name is not a provider: `gemma` is not `gemini`.
  const maker = rest.length === 0 ? makers.find(([start]) => start.test(provider))?.[1] : undefined;
  const near = nearestName(provider, modelProviders, Math.floor(provider.length / 3));
  const own = near === undefined ? undefined : [near, ...rest];
  const meant = maker === undefined ? own : [maker, provider];
  if (meant !== undefined) {
    const hint = withoutUser(meant.join(':'));
    const got = gotten(withoutUser(`${spec}`));
    return refusalOf(spec, `to name a known provider, ${got} Did you mean \`${hint}\`?`, 'model');
  }
  const hint =
    typeof spec === 'string' && spec.endsWith('.gguf') ? `${aFile}; other specs are ` : '';
  const expected = `${hint}${modelSpecForms.join(', ')}`;
  return expectation('model', expected, typeof spec === 'string' ? withoutUser(spec) : spec);
}

/** A spec without the part before the host of an address, which may be a key. */
function withoutUser(spec: string): string {
  return spec.replace(/(:\/\/).*@/s, '$1…@');
}
