import { isPlainObject } from '../../base/json.ts';
import type { RowColumns } from '../formats/reading.ts';
import type { RowFault } from './report.ts';

/** Watches the columns of the rows of a configuration: each must have one type, and each row all of them. */
export class ColumnTypes {
  readonly #types = new Map<string, string>();
  readonly #numbers = new Map<string, string>();
  #keys: string | undefined;

  /**
   * Returns the faults in the types of a row, compared with earlier rows. `null` goes with any type.
   *
   * @param source - The text of the row, which distinguishes `1` from `1.0`.
   */
  look(columns: RowColumns, source?: string): readonly RowFault[] {
    const faults: RowFault[] = [];
    for (const [name, value] of Object.entries(columns)) {
      const fault = this.#mixed(name, value);
      if (fault !== undefined) faults.push(fault);
      else if (typeof value === 'number' && source !== undefined) {
        const numbers = this.#mixedNumbers(name, value, source);
        if (numbers !== undefined) faults.push(numbers);
      }
    }
    return faults;
  }

  /** Whether a row has other columns than the first one. */
  keys(columns: RowColumns): readonly RowFault[] {
    const keys = Object.keys(columns).toSorted().join(', ');
    this.#keys ??= keys;
    return keys === this.#keys ? [] : [{ code: 'keys-differ', excerpt: keys }];
  }

  #mixed(name: string, value: unknown): RowFault | undefined {
    const type = typeOf(value);
    const known = this.#known(name, type);
    if (known !== type && type !== 'null') return mixed(name, known, type);
    if (isPlainObject(value)) return this.#mixedWithin(name, value);
    if (!Array.isArray(value)) return undefined;
    for (const element of value as readonly unknown[]) {
      const own = typeOf(element);
      const all = this.#known(`${name}[]`, own);
      if (own !== 'null' && all !== own) return mixed(`${name}[]`, all, own);
    }
    return undefined;
  }

  /** Values nested deeper, such as arguments of calls, may differ from row to row. */
  #mixedWithin(name: string, values: RowColumns): RowFault | undefined {
    for (const [key, value] of Object.entries(values)) {
      const own = typeOf(value);
      const path = `${name}.${key}`;
      const all = this.#known(path, own);
      if (own !== 'null' && all !== own) return mixed(path, all, own);
    }
    return undefined;
  }

  #known(name: string, type: string): string {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    if (type !== 'null') this.#types.set(name, type);
    return type;
  }

  #mixedNumbers(name: string, value: number, source: string): RowFault | undefined {
    const type = writtenAs(name, value, source);
    const known = this.#numbers.get(name);
    if (known === undefined) this.#numbers.set(name, type);
    if (known === undefined || known === type) return undefined;
    return { code: 'int-and-float', excerpt: `${name}: ${known} before, ${type} here` };
  }
}

function mixed(name: string, known: string, type: string): RowFault {
  return { code: 'mixed-types', excerpt: `${name}: ${known} before, ${type} here` };
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'list';
  return isPlainObject(value) ? 'object' : typeof value;
}

/** Whether the text gives a number as an integer or as a decimal. */
function writtenAs(name: string, value: number, source: string): 'int' | 'float' {
  if (!Number.isInteger(value)) return 'float';
  const key = JSON.stringify(name);
  // From the end: what stands within texts of the row has its quotes escaped, what is nested comes earlier.
  for (
    let at = source.lastIndexOf(key);
    at >= 0;
    at = at === 0 ? -1 : source.lastIndexOf(key, at - 1)
  ) {
    const written = /^\s*:\s*(-?\d[\d.eE+-]*)/.exec(
      source.slice(at + key.length, at + key.length + 40),
    )?.[1];
    if (written !== undefined && Number(written) === value) {
      return /[.eE]/.test(written) ? 'float' : 'int';
    }
  }
  return 'float';
}
