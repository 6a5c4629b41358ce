import type { Provenance } from '../spec/provenance.ts';

/** What several parts tell of themselves together; each stamp once, in order. */
export function provenanceOf(...parts: readonly (Provenance | undefined)[]): Provenance {
  const stamps = [...new Set(parts.flatMap((part) => part?.stamps ?? []))];
  const prompts = Object.assign({}, ...parts.map((part) => part?.prompts)) as NonNullable<
    Provenance['prompts']
  >;
  return {
    ...(stamps.length > 0 && { stamps }),
    ...(Object.keys(prompts).length > 0 && { prompts }),
  };
}
