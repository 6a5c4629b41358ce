import type { MetadataValue } from '@huggingface/gguf';
import type { EspalierError } from '../../base/errors.ts';
import { fault, type GgufHeader } from './gguf-header.ts';

/** The metadata of a file, read with a type; errors name entries that are missing or have another type. */
export class Metadata {
  readonly #path: string;
  readonly #values: ReadonlyMap<string, MetadataValue>;

  constructor({ path, metadata }: GgufHeader) {
    this.#path = path;
    this.#values = metadata;
  }

  /** A text. */
  string(key: string): string {
    return this.optionalString(key) ?? this.#missing(key, 'a text');
  }

  /** A text, or `undefined`. */
  optionalString(key: string): string | undefined {
    const value = this.#values.get(key);
    if (value === undefined || typeof value === 'string') return value;
    throw this.wrong(key, 'a text', nameOf(value));
  }

  /** A boolean, or `undefined`. */
  optionalBoolean(key: string): boolean | undefined {
    const value = this.#values.get(key);
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.wrong(key, 'true or false', nameOf(value));
  }

  /** A number. */
  number(key: string): number {
    return this.optionalNumber(key) ?? this.#missing(key, 'a number');
  }

  /** A number, or `undefined`. */
  optionalNumber(key: string): number | undefined {
    const value = this.#values.get(key);
    const number = typeof value === 'bigint' ? Number(value) : value;
    if (number === undefined || (typeof number === 'number' && Number.isFinite(number))) {
      return number;
    }
    throw this.wrong(key, 'a number', nameOf(number));
  }

  /** An integer from 1 to a million. */
  count(key: string): number {
    return this.optionalCount(key) ?? this.#missing(key, 'a whole number');
  }

  /** An integer from 1 to a million, or `undefined`. */
  optionalCount(key: string): number | undefined {
    const value = this.optionalNumber(key);
    if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= 1_000_000)) {
      return value;
    }
    throw this.wrong(key, 'a whole number from 1 to 1000000', String(value));
  }

  /** Texts. */
  strings(key: string): readonly string[] {
    const value = this.#values.get(key) ?? this.#missing(key, 'an array of texts');
    if (isArrayOf(value, 'string')) return value;
    throw this.wrong(key, 'an array of texts', nameOf(value));
  }

  /** Numbers, or `undefined`. */
  optionalNumbers(key: string): readonly number[] | undefined {
    const value = this.#values.get(key);
    if (value === undefined || isArrayOf(value, 'number')) return value;
    throw this.wrong(key, 'an array of numbers', nameOf(value));
  }

  /** *Expected `key` to be …, got …: path* */
  wrong(key: string, expected: string, got: string): EspalierError {
    return fault(this.#path, `\`${key}\` to be ${expected}`, got);
  }

  #missing(key: string, expected: string): never {
    throw this.wrong(key, expected, 'none');
  }
}

interface ElementTypes {
  readonly string: string;
  readonly number: number;
}

function isArrayOf<Type extends keyof ElementTypes>(
  value: MetadataValue,
  type: Type,
): value is ElementTypes[Type][] & MetadataValue {
  return Array.isArray(value) && value.every((element) => typeof element === type);
}

/** A value as shown in an error. */
function nameOf(value: MetadataValue): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return typeof value === 'string' ? 'a text' : String(value);
}
