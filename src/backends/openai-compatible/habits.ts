import type { Capabilities } from '../../contracts/language-model.ts';
import type { JsonBody, Refuses } from '../transport/chat-request.ts';
import type { Known } from '../transport/downgrades.ts';
import type { JsonFields } from '../transport/json.ts';

/** The variables of an environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The properties of a kind of server. */
export interface Habits {
  /** What it supports. Capabilities that are not listed are unknown: requested, but not relied upon. */
  readonly capabilities: Capabilities;
  /** Further capabilities that are not even requested if false. */
  readonly known?: Known;
  /** Its default address, or a function that derives it from the environment. */
  readonly baseUrl?: string | ((environment: Environment) => string);
  /** The environment variable of its key, for hosted providers. */
  readonly keyVariable?: string;
  /** The owner of the models that it lists, if that identifies the kind of server. */
  readonly owner?: string;
  /** Whether it runs on your own machine, and so is free. */
  readonly isFree: boolean;
  /** Neutral values for its own sampling parameters, so that only those of the request apply. */
  readonly neutral?: Readonly<Record<string, number>>;
  /** When these are sent: whenever something is sampled, or if a request sets a sampling parameter. */
  readonly neutralises?: 'always' | 'when-asked';
  /** The fields that make it continue a trailing assistant message. */
  readonly continuation?: JsonBody;
  /** How a prompt can be rendered there, to continue a partial answer. */
  readonly renders?: 'apply-template' | 'tokenize';
  /** Whether that is always done, or only if its chat refuses to continue. */
  readonly rendersWhen?: 'always' | 'refused';
  /** The endpoint that counts the tokens of a conversation, or at least of a text. */
  readonly counts?: 'input-tokens' | 'tokenize' | 'tokenize-text';
  /** Whether choice `i` of a seeded request uses the seed plus `i`. */
  readonly seedsChoices?: boolean;
  /** Whether its usage counts only one choice, however many there are. */
  readonly countsOneChoice?: boolean;
  /** Whether it does not support a schema together with tools. */
  readonly bindsAlone?: boolean;
  /** Whether it has a JSON mode, if it does not support schemas. */
  readonly writesJson?: boolean;
  /** The dollars it charged, according to the reported usage. */
  readonly charged?: (usage: JsonFields) => number | undefined;
  /** Converts a body to its dialect. */
  readonly spelled?: (body: JsonBody, refuses: Refuses) => JsonBody;
  /** What it requires back with a turn that calls tools. */
  readonly turns?: {
    /** The fields of the message to send back unchanged; `undefined` if there are none. */
    readonly kept: (message: JsonFields) => JsonFields | undefined;
    /** Fields to add to a turn from another source, given its message. @defaultValue none */
    readonly usual?: (message: JsonBody) => JsonBody;
  };
}
