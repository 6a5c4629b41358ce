import { en } from 'zod/locales';
import type * as z from 'zod/mini';

/** The English messages of zod, which its small edition does not include by default. */
export const issueTexts: z.core.ParseContext<z.core.$ZodIssue> = { error: en().localeError };
