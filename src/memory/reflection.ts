import { z } from 'zod';
import { canonicalJson, contentAddress } from '../base/canonical-json.ts';
import type { Reflection } from '../contracts/memory.ts';

/**
 * The id of a reflection: the content address (SHA-256, base64url, 43 characters) of kind, task, situation, action and
 * outcome. The lesson is not part of it, so that the same experience is stored once.
 */
export function reflectionId({
  kind,
  task,
  situation,
  action,
  outcome,
}: Omit<Reflection, 'id' | 'lesson' | 'source'>): string {
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

/**
 * An external value as a reflection, or why it is invalid: its fields are wrong, or its id is not the address of its
 * content.
 */
export function readReflection(
  value: unknown,
): { readonly fault: string } | { readonly reflection: Reflection } {
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
