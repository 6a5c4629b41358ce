import type { SchemaElement } from 'hyparquet';
import type { Columns, ColumnType } from '../formats/columns.ts';
import {
  expectFields,
  expectLeaf,
  expectList,
  isAbsent,
  type LeafType,
  namedOf,
  withoutOptional,
} from './leaf-values.ts';

/**
 * One column of the file proper, in the form of Dremel: values with the levels that tell where lists begin and what
 * is absent.
 *
 * @see Melnik et al., "Dremel: Interactive Analysis of Web-Scale Datasets", 2010, section 4.1.
 */
export interface Leaf {
  /** From the root of the schema to this column. */
  readonly schemaPath: readonly SchemaElement[];
  readonly type: LeafType;
  /** The definition level of a value that is there. */
  readonly maxDefinitionLevel: number;
  /** The values; `null` for absent ones. */
  values: unknown[];
  /** The definition level of each; empty if nothing can be absent. */
  definitionLevels: number[];
  /** The repetition level of each; empty if nothing repeats. */
  repetitionLevels: number[];
}

/** Takes the values of one column of rows apart. */
export interface Shredder {
  /** The type as Parquet has it, parents first. */
  readonly elements: readonly SchemaElement[];
  /** The columns proper below it, in order. */
  readonly leaves: readonly Leaf[];
  write(value: unknown, repetition: number): void;
  writeAbsent(definition: number, repetition: number): void;
}

/** How much text is held. */
export interface Meter {
  /** UTF-16 code units. */
  characters: number;
}

/** Where a column is. */
interface Place {
  readonly meter: Meter;
  readonly name: string;
  readonly path: string;
  readonly above: readonly SchemaElement[];
  readonly definition: number;
  readonly repetition: number;
}

/** A shredder for each column. */
export function shreddersOf(
  columns: Columns,
  meter: Meter,
): {
  readonly schema: readonly SchemaElement[];
  readonly shredders: readonly Shredder[];
} {
  const root: SchemaElement = { name: 'root', num_children: Object.keys(columns).length };
  const shredders = Object.entries(columns).map(([name, type]) =>
    shredderOf(type, { meter, name, path: name, above: [root], definition: 0, repetition: 0 }),
  );
  return { schema: [root, ...shredders.flatMap(({ elements }) => elements)], shredders };
}

function shredderOf(type: ColumnType, place: Place): Shredder {
  const { inner, isOptional } = withoutOptional(type);
  if (!isOptional) return requiredShredder(inner, place, 'REQUIRED');
  const below = { ...place, definition: place.definition + 1 };
  const shredder = requiredShredder(inner, below, 'OPTIONAL');
  return {
    ...shredder,
    write(value, repetition) {
      if (isAbsent(inner, value)) shredder.writeAbsent(place.definition, repetition);
      else shredder.write(value, repetition);
    },
  };
}

type Repetition = 'OPTIONAL' | 'REQUIRED';

function requiredShredder(
  type: ReturnType<typeof withoutOptional>['inner'],
  place: Place,
  repetition: Repetition,
): Shredder {
  if (typeof type === 'string') return leafShredder(type, place, repetition);
  return 'list' in type
    ? listShredder(type.list, place, repetition)
    : structShredder(type.struct, place, repetition);
}

function leafShredder(type: LeafType, place: Place, repetition_type: Repetition): Shredder {
  const { name, path, above, definition, repetition: maxRepetition, meter } = place;
  const element: SchemaElement = { name, repetition_type, ...physicalTypes[type] };
  const leaf: Leaf = {
    schemaPath: [...above, element],
    type,
    maxDefinitionLevel: definition,
    values: [],
    definitionLevels: [],
    repetitionLevels: [],
  };
  const add = (value: unknown, level: number, repetition: number): void => {
    leaf.values.push(value);
    if (definition > 0) leaf.definitionLevels.push(level);
    if (maxRepetition > 0) leaf.repetitionLevels.push(repetition);
  };
  return {
    elements: [element],
    leaves: [leaf],
    write(value, repetition) {
      expectLeaf(path, type, value);
      if (typeof value === 'string') meter.characters += value.length;
      add(type === 'int' ? bigIntOf(value as number) : value, definition, repetition);
    },
    writeAbsent: (level, repetition) => add(null, level, repetition),
  };
}

/** JSON has no converted type here: hyparquet-writer would turn the text into JSON once more. */
const physicalTypes: Readonly<Record<LeafType, Omit<SchemaElement, 'name'>>> = {
  boolean: { type: 'BOOLEAN' },
  float: { type: 'DOUBLE' },
  int: { type: 'INT64' },
  json: { type: 'BYTE_ARRAY', logical_type: { type: 'JSON' } },
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
};

const smallIntegers: readonly bigint[] = Array.from({ length: 1024 }, (_, value) => BigInt(value));

function bigIntOf(value: number): bigint {
  return smallIntegers[value] ?? BigInt(value);
}

function listShredder(type: ColumnType, place: Place, repetition_type: Repetition): Shredder {
  const { name, path, above, definition, repetition: maxRepetition } = place;
  const list: SchemaElement = {
    name,
    repetition_type,
    num_children: 1,
    converted_type: 'LIST',
    logical_type: { type: 'LIST' },
  };
  const repeated: SchemaElement = { name: 'list', repetition_type: 'REPEATED', num_children: 1 };
  const element = shredderOf(type, {
    ...place,
    name: 'element',
    path: `${path}[]`,
    above: [...above, list, repeated],
    definition: definition + 1,
    repetition: maxRepetition + 1,
  });
  return {
    elements: [list, repeated, ...element.elements],
    leaves: element.leaves,
    write(value, repetition) {
      const values = expectList(path, value);
      if (values.length === 0) element.writeAbsent(definition, repetition);
      for (let index = 0; index < values.length; index++) {
        element.write(values[index], index === 0 ? repetition : maxRepetition + 1);
      }
    },
    writeAbsent: (level, repetition) => element.writeAbsent(level, repetition),
  };
}

function structShredder(columns: Columns, place: Place, repetition_type: Repetition): Shredder {
  const { name, path, above } = place;
  const names = namedOf(columns);
  const struct: SchemaElement = { name, repetition_type, num_children: names.length };
  const fields = Object.entries(columns).map(([field, type]) =>
    shredderOf(type, {
      ...place,
      name: field,
      path: `${path}.${field}`,
      above: [...above, struct],
    }),
  );
  return {
    elements: [struct, ...fields.flatMap(({ elements }) => elements)],
    leaves: fields.flatMap(({ leaves }) => leaves),
    write(value, repetition) {
      const values = expectFields(path, value, names);
      for (const [index, field] of fields.entries()) {
        field.write(values[names[index]?.name ?? ''], repetition);
      }
    },
    writeAbsent(level, repetition) {
      for (const field of fields) field.writeAbsent(level, repetition);
    },
  };
}
