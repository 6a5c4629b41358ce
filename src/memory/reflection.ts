import { z } from 'zod';
import { canonicalJson, contentAddress } from '../base/canonical-json.ts';
import type { Reflection } from '../contracts/memory.ts';

/** What a reflection is told apart by. The lesson is not: the same experience teaches once. */
export type Experience = Pick<Reflection, 'action' | 'kind' | 'outcome' | 'situation' | 'task'>;

/**
 * The id of a reflection: the content address (SHA-256, base64url, 43 characters) of kind, task, situation,
 * action and outcome.
 */
export function reflectionId({ kind, task, situation, action, outcome }: Experience): string {
  return contentAddress(canonicalJson('reflection', [kind, task, situation, action, outcome]));
}

/** A reflection with its id. */
export function makeReflection(content: Omit<Reflection, 'id'>): Reflection {
  return { id: reflectionId(content), ...content };
}

const source = z.object({
  environment: z.string(),
  node: z.number().int().min(0),
  expected: z.number(),
  realised: z.number(),
  model: z.string(),
});

const shape: z.ZodType<Reflection> = z.object({
  id: z.string(),
  kind: z.enum(['policy', 'value']),
  task: z.string(),
  situation: z.string(),
  action: z.string(),
  outcome: z.string(),
  lesson: z.string().min(1),
  source,
});

/** A reflection, or why a value is none. */
export type ReadReflection = { readonly fault: string } | { readonly reflection: Reflection };

/** Looks at a value from outside: its fields, and that the id is the address of its content. */
export function readReflection(value: unknown): ReadReflection {
  const parsed = shape.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue === undefined ? '' : issue.path.join('.');
    const about = place === '' ? 'it' : `\`${place}\``;
    return { fault: `${about} is not as expected (${issue?.message ?? 'unknown reason'})` };
  }
  if (parsed.data.id !== reflectionId(parsed.data)) {
    return { fault: '`id` is not the address of its content' };
  }
  return { reflection: parsed.data };
}
