import { en } from 'zod/locales';
import type * as z from 'zod/mini';

/** What zod says of what is wrong, in English: its small edition says nothing by itself. */
export const issueTexts: z.core.ParseContext<z.core.$ZodIssue> = { error: en().localeError };
