import { excerptOf } from './excerpt.ts';
import type { AuditCode, AuditFinding } from './report.ts';
import { auditRules } from './rules.ts';

/** Examples that are kept of each finding. */
const mostExamples = 3;

/** The findings so far: counts, and the first places of each. */
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
    const { severity, message } = auditRules[code];
    this.#open.set(key, {
      code,
      severity,
      message,
      config: excerptOf(config),
      count: count + 1,
      examples: examples.length < mostExamples ? [...examples, shown()] : examples,
    });
  }

  /**
   * All of them: errors first, then by code and configuration.
   *
   * @param rowsOf - How many rows a configuration has.
   */
  list(rowsOf: (config: string) => number): readonly AuditFinding[] {
    return [...this.#open.values()]
      .filter(({ code, config, count }) => {
        const { from = 0, below } = auditRules[code];
        const share = count / rowsOf(config);
        return share >= from && (below === undefined || share < below);
      })
      .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
  }
}

function rank({ severity, code, config }: AuditFinding): string {
  return `${severity === 'error' ? 0 : 1} ${code} ${config}`;
}
