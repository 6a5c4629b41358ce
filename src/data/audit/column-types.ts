import { isPlainObject } from '../../base/json.ts';
import type { RowColumns } from '../formats/reading.ts';
import { closingQuote } from './repeated-key.ts';
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
    let written: ReadonlyMap<string, 'float' | 'int'> | undefined;
    for (const [name, value] of Object.entries(columns)) {
      const fault = this.#mixed(name, value);
      if (fault !== undefined) faults.push(fault);
      else if (typeof value === 'number' && source !== undefined) {
        written ??= writtenNumbers(columns, source);
        const numbers = this.#mixedNumbers(name, written.get(name) ?? 'float');
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

  #mixedNumbers(name: string, type: string): RowFault | undefined {
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

/**
 * Whether the text of a row gives each number as an integer or as a decimal. What is nested comes earlier than a column
 * of the same name, or has another value.
 */
function writtenNumbers(columns: RowColumns, source: string): ReadonlyMap<string, 'float' | 'int'> {
  const types = new Map<string, 'float' | 'int'>();
  const number = /\s*:\s*(-?\d[\d.eE+-]*)/y;
  for (let from = source.indexOf('"'); from >= 0; ) {
    const end = closingQuote(source, from);
    number.lastIndex = end + 1;
    const written = number.exec(source)?.[1];
    if (written !== undefined) {
      const name = JSON.parse(source.slice(from, end + 1)) as string;
      if (columns[name] === Number(written))
        types.set(name, /[.eE]/.test(written) ? 'float' : 'int');
    }
    from = source.indexOf('"', end + 1);
  }
  return types;
}
