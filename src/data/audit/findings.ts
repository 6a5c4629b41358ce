import { excerptOf } from './excerpt.ts';
import { type AuditCode, type AuditFinding, auditRules } from './report.ts';

/** Examples that are kept of each finding. */
const mostExamples = 3;

/** What was found so far: counts, and the first places of each. */
export class Findings {
  readonly #open = new Map<string, AuditFinding>();

  /** Counts a finding. */
  add(
    config: string,
    code: AuditCode,
    example: { readonly place: string; readonly excerpt: unknown },
  ): void {
    const key = `${code} ${config}`;
    const known = this.#open.get(key);
    const { count = 0, examples = [] } = known ?? {};
    const shown = () => ({
      place: excerptOf(example.place, 200),
      excerpt: excerptOf(example.excerpt),
    });
    this.#open.set(key, {
      code,
      ...auditRules[code],
      config: excerptOf(config),
      count: count + 1,
      examples: examples.length < mostExamples ? [...examples, shown()] : examples,
    });
  }

  /** All of them: errors first, then by code and configuration. */
  list(): readonly AuditFinding[] {
    return [...this.#open.values()].toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
  }
}

function rank({ severity, code, config }: AuditFinding): string {
  return `${severity === 'error' ? 0 : 1} ${code} ${config}`;
}
