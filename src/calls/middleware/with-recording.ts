import { expectJson } from '../../base/canonical-json.ts';
import { EspalierError } from '../../base/errors.ts';
import { expectation, expectMethods } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { withStorageErrors } from '../../base/with-storage-errors.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ModelCall } from '../../contracts/language-model.ts';
import { chargeOf } from '../account.ts';
import { isUnavailable } from '../call-outcome.ts';
import { addressOfCall } from '../call-request.ts';
import { type CallSpend, nothing } from '../call-spend.ts';
import { contentOf } from '../calls.ts';
import { beginJournal, type Journal } from '../journal.ts';
import type { JournalLine } from '../journal-lines.ts';
import type { Answer } from '../operations/model-operation.ts';
import type { PriceTable } from '../prices.ts';
import { actualCost, askedTierOf, mostCost, priceOf } from '../pricing.ts';
import { type AnyMiddleware, type Asked, aroundCalls, type Make } from './wrap.ts';

/**
 * Records calls as a search does: before and after, with every attempt, so that a search on the journal, or a replaying
 * model, finds them. For models called outside a search; within one, use the search's `journal`.
 *
 * It only records: repeated requests are paid for again, and a replay returns the last answer.
 *
 * @throws EspalierError `storage` from a call if the journal cannot be written; `usage` for a replay journal.
 */
export function withRecording(options: {
  /** The journal to write to. An empty one gets a header. */
  readonly journal: Journal;
  /**
   * Prices by model id, taking precedence over `defaultPrices` and over prices that models carry. @defaultValue none
   */
  readonly prices?: PriceTable;
}): AnyMiddleware {
  expectOptions('withRecording', options, 'journal prices');
  const { journal, prices = {} } = options;
  expectMethods('journal', journal, ['append']);
  if (journal.mode === 'replay') throw expectation('journal', 'one to write to', 'replay');
  const recorder = new Recorder(journal, prices);
  return aroundCalls(() => (asked, call, make) => recorder.record(asked, call, make));
}

/** The number of the next call of each journal: several recorders may write to the same one. */
const numbers = new WeakMap<Journal, number>();

class Recorder {
  readonly #journal: Journal;
  readonly #prices: PriceTable;

  constructor(journal: Journal, prices: PriceTable) {
    this.#journal = journal;
    this.#prices = prices;
  }

  async record({ operation, request }: Asked, call: ModelCall, make: Make): Promise<Answer> {
    const { payee } = operation;
    const price = payee && priceOf(payee, this.#prices, false);
    const tier = payee && askedTierOf(payee);
    const reserved = mostCost(operation.worstCase?.(request), price, tier);
    const content = contentOf(operation, request);
    const key = addressOfCall(content);
    const number = this.#number();
    const line = { call: number, key } as const;
    this.#write({ type: 'intent', ...line, reserved, ...content });

    let answer: Answer;
    let output: JsonValue;
    try {
      answer = await make(this.#watched(call, { ...line, reserved }));
      output = expectJson(
        `result of ${content.name}`,
        operation.result?.encode(answer) ?? { ...answer },
      );
    } catch (error) {
      // The outcome of an aborted call is unknown, and a storage error of the journal cannot be recorded in it.
      if (!call.signal.aborted && !isStorageError(error)) {
        const message = error instanceof Error ? error.message : String(error);
        const spend = chargeOf(error, reserved);
        const isOver = isUnavailable(error) && ({ unavailable: true } as const);
        this.#write({ type: 'failure', ...line, spend, message, ...isOver });
      }
      throw error;
    }
    const spend = actualCost(answer.usage, reserved, price);
    this.#write({ type: 'result', ...line, spend, output });
    return operation.named?.(answer, String(number)) ?? answer;
  }

  /** The context that the model gets: its attempts are recorded. */
  #watched(
    call: ModelCall,
    { reserved, ...line }: { call: number; key: string; reserved: CallSpend },
  ): ModelCall {
    const again = { ...reserved, calls: 0 };
    return {
      ...call,
      retry: async (attempt) => {
        const { message, charged } = attempt;
        const spend = charged ? again : nothing;
        this.#write({ type: 'attempt', ...line, spend, ...(charged && { asks: true }), message });
        await call.retry?.(attempt);
        if (charged) this.#write({ type: 'grant', ...line, reserved: again });
      },
      requestExtraCall: async (message, options) => {
        this.#write({ type: 'attempt', ...line, spend: nothing, asks: true, message });
        await call.requestExtraCall?.(message, options);
        this.#write({ type: 'grant', ...line, reserved: again });
      },
    };
  }

  /** The number of the next call. The first call gives an empty journal its header. */
  #number(): number {
    const next =
      numbers.get(this.#journal) ?? withStorageErrors('The journal', () => this.#begin());
    numbers.set(this.#journal, next + 1);
    return next;
  }

  #begin(): number {
    const [header] = this.#journal.lines;
    // The header prevents a search from continuing the journal as its own.
    if (header === undefined) beginJournal(this.#journal, { recording: 'models' });
    let next = 0;
    for (const line of this.#journal.lines) {
      if (line.type === 'intent') next = Math.max(next, line.call + 1);
    }
    return next;
  }

  #write(line: JournalLine): void {
    withStorageErrors('The journal', () => this.#journal.append(line));
  }
}

function isStorageError(error: unknown): boolean {
  return EspalierError.isInstance(error) && error.code === 'storage';
}
