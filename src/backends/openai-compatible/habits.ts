import type { Capabilities } from '../../contracts/language-model.ts';
import type { JsonBody, Refuses } from '../transport/chat-request.ts';
import type { Known } from '../transport/downgrades.ts';
import type { JsonFields } from '../transport/json.ts';

/** The variables of an environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The habits of a kind of server. */
export interface Habits {
  /** What it supports. What is not named is unknown: it is sent, and not relied upon. */
  readonly capabilities: Capabilities;
  /** What of the rest is not even sent where it is false. */
  readonly known?: Known;
  /** Where it listens by default; or how that is found in the environment. */
  readonly baseUrl?: string | ((environment: Environment) => string);
  /** The environment variable of its key; that of a hosted provider only. */
  readonly keyVariable?: string;
  /** Who owns the models that it lists, where that tells servers apart. */
  readonly owner?: string;
  /** Whether it runs on a machine of your own, and so costs nothing. */
  readonly isFree: boolean;
  /** How its own sampling parameters are neutralised, so that only what a request says holds. */
  readonly neutral?: Readonly<Record<string, number>>;
  /** When that is done: whenever something is sampled, or where a request sets a parameter of sampling. */
  readonly neutralises?: 'always' | 'when-asked';
  /** What makes it go on from a trailing assistant message. */
  readonly continuation?: JsonBody;
  /** How a prompt is rendered there, for going on from a partial answer. */
  readonly renders?: 'apply-template' | 'tokenize';
  /** Whether that is done always, or where its chat refuses to go on. */
  readonly rendersWhen?: 'always' | 'refused';
  /** Where it tells how many tokens a conversation is, or at least a text. */
  readonly counts?: 'input-tokens' | 'tokenize' | 'tokenize-text';
  /** Whether choice `i` of a seeded request is sampled with the seed plus `i`. */
  readonly seedsChoices?: boolean;
  /** Whether its usage counts one choice, however many there are. */
  readonly countsOneChoice?: boolean;
  /** Whether it takes no schema beside tools. */
  readonly bindsAlone?: boolean;
  /** Whether it can be told to write JSON, where it takes no schema. */
  readonly writesJson?: boolean;
  /** How many US dollars it charged, by the usage that it tells. */
  readonly charged?: (usage: JsonFields) => number | undefined;
  /** A body in its own spelling. */
  readonly spelled?: (body: JsonBody, refuses: Refuses) => JsonBody;
  /** What it wants back with a turn that calls tools. */
  readonly turns?: {
    /** The fields of the message that are handed back as they are; `undefined` if none is to be. */
    readonly kept: (message: JsonFields) => JsonFields | undefined;
    /** What stands in a turn that it has not told itself, by its message. @defaultValue nothing */
    readonly usual?: (message: JsonBody) => JsonBody;
  };
}
