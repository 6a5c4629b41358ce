import { excerptOf } from './excerpt.ts';
import { type AuditCode, type AuditFinding, auditRules } from './report.ts';

/** Examples that are kept of each finding. */
const examples = 3;

interface Open {
  readonly code: AuditCode;
  readonly config: string;
  count: number;
  readonly examples: AuditFinding['examples'][number][];
}

/** What was found so far: counts, and the first places of each. */
export class Findings {
  readonly #open = new Map<string, Open>();

  /** Counts a finding. */
  add(
    config: string,
    code: AuditCode,
    example: { readonly place: string; readonly excerpt: unknown },
  ): void {
    const key = `${code} ${config}`;
    const open = this.#open.get(key) ?? { code, config, count: 0, examples: [] };
    this.#open.set(key, open);
    open.count += 1;
    if (open.examples.length >= examples) return;
    open.examples.push({
      place: excerptOf(example.place, 200),
      excerpt: excerptOf(example.excerpt),
    });
  }

  /** All of them: errors first, then by code and configuration. */
  list(): readonly AuditFinding[] {
    return [...this.#open.values()]
      .map(
        ({ code, config, count, examples: places }): AuditFinding => ({
          code,
          ...auditRules[code],
          config: excerptOf(config),
          count,
          examples: places,
        }),
      )
      .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
  }
}

function rank({ severity, code, config }: AuditFinding): string {
  return `${severity === 'error' ? 0 : 1} ${code} ${config}`;
}
