import { EspalierError } from '../base/errors.ts';
import { jsonFault } from '../base/json.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { SearchNode } from '../contracts/node.ts';

/** A rule by its name and options. */
export interface RuleSpec {
  /** The name of the function that makes it. */
  readonly name: string;
  /** Its options. A nested rule is a {@link RuleSpec}; a user's function, or a value that contains one, is `null`. */
  readonly options: Readonly<Record<string, JsonValue>>;
}

/** Why a rule rates a candidate as it does. */
export interface Reasons {
  /** The rating: the candidate with the highest is chosen. */
  readonly total: number;
  /** Its terms, named as in the papers. */
  readonly terms: Readonly<Record<string, number>>;
}

/** Self-description of rules: built-in rules provide it. */
export interface Explained {
  /** The name and options of the rule. */
  readonly spec?: RuleSpec;
  /** Why each child of a node is rated as it is, in a tree with the discount γ. */
  readonly explain?: (parent: SearchNode, discount: number) => (child: SearchNode) => Reasons;
}

type Options = Readonly<Record<string, unknown>>;

/** Attaches a name and options to a rule. */
export function named<Rule extends object>(
  name: string,
  options: object,
  rule: Rule,
): Rule & { readonly spec: RuleSpec } {
  const told = Object.entries(options).filter(([, value]) => value !== undefined);
  const spec = {
    name,
    options: Object.fromEntries(told.map(([key, value]) => [key, saved(value)])),
  };
  return Object.assign(rule, { spec });
}

/** Throws if a rule that has no options was called as if it made one, and so without what a tree gives it. */
export function expectUncalled<Given>(
  rule: string,
  given: Given,
): asserts given is NonNullable<Given> {
  if (given !== undefined) return;
  throw new EspalierError(
    'usage',
    `Expected \`${rule}\` to be given as it is, because it has no options: write \`${rule}\`, not \`${rule}()\`.`,
  );
}

/** JSON has no Infinity and no functions. */
function saved(value: unknown): JsonValue {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  const { spec } = Object(value) as { readonly spec?: RuleSpec };
  return (spec ?? (jsonFault(value) === undefined ? value : null)) as JsonValue;
}

/** The original options. @throws EspalierError `usage` if one was, or contained, a user's function. */
export function revived({ name, options }: RuleSpec, make: (spec: RuleSpec) => unknown): Options {
  const told = Object.entries(options).map(([key, value]) => {
    if (value === null) {
      throw new EspalierError(
        'usage',
        `Expected the rule \`${name}\` to be given, because its option \`${key}\` is or contains a function, which a tree cannot store.`,
      );
    }
    if (value === 'Infinity') return [key, Number.POSITIVE_INFINITY];
    return [key, isSpec(value) ? make(value) : value];
  });
  return Object.fromEntries(told) as Options;
}

function isSpec(value: JsonValue): value is JsonValue & RuleSpec {
  return typeof value === 'object' && 'name' in Object(value) && 'options' in Object(value);
}
