import { EspalierError, ModelCallError } from '../../base/errors.ts';
import { expectMethods } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { ModelCall } from '../../contracts/language-model.ts';
import type { Answer, Attributes } from '../operations/model-operation.ts';
import { type AnyMiddleware, aroundCalls } from './wrap.ts';

/** Options of {@link withTelemetry}. */
export interface TelemetryOptions {
  /** The tracer: `trace.getTracer('my-program')` of OpenTelemetry, or a compatible object. */
  readonly tracer: {
    /** Starts the span of a call, of kind 2: a client's. */
    startSpan(
      name: string,
      options: {
        kind: number;
        attributes: Record<string, string | number | boolean | string[] | undefined>;
      },
    ): {
      /** Adds attributes. */
      setAttributes(
        attributes: Record<string, string | number | boolean | string[] | undefined>,
      ): unknown;
      /** Records an error. */
      recordException(error: Error): void;
      /** Sets the status: 2 is an error. */
      setStatus(status: { code: number; message?: string }): unknown;
      /** Ends it. */
      end(): void;
    };
  };
  /** Whether spans include prompts and answers. @defaultValue false */
  readonly content?: boolean;
}

type Span = ReturnType<TelemetryOptions['tracer']['startSpan']>;

const clientSpan = 2;
const errorStatus = 2;

/** Whether a call has its span already. The same symbol in every installed copy. */
const traced: unique symbol = Symbol.for('espalier.telemetry') as never;

interface TracedCall extends ModelCall {
  readonly [traced]?: true;
}

/**
 * Creates one OpenTelemetry span per call, by the conventions for generative AI (`gen_ai.*`, in development): the
 * request, the model that answered, tokens, errors. If a model is wrapped several times, the outermost creates the
 * span. A failing tracer loses a span, not a call.
 */
export function withTelemetry(options: TelemetryOptions): AnyMiddleware {
  expectOptions('withTelemetry', options, 'tracer content');
  const { tracer, content = false } = options;
  expectMethods('tracer', tracer, ['startSpan']);
  return aroundCalls((next) => async (asked, call, make) => {
    if ((call as TracedCall)[traced] === true) return make(call);
    const { telemetry, kind } = asked.operation;
    const operation = telemetry?.operation ?? kind;
    const span = quietly(() =>
      tracer.startSpan(`${operation} ${next.modelId}`, {
        kind: clientSpan,
        attributes: said({
          'gen_ai.operation.name': operation,
          'gen_ai.provider.name': next.provider,
          'gen_ai.request.model': next.modelId,
          ...telemetry?.request?.(asked.request, content),
        }),
      }),
    );
    const tracedCall: TracedCall = { ...call, [traced]: true };
    if (span === undefined) return make(tracedCall);
    const tell = (answer: Answer) =>
      span.setAttributes(
        said({ ...usageAttributes(answer), ...telemetry?.answer?.(answer, content) }),
      );
    return told(span, { tell, signal: call.signal, make: () => make(tracedCall) });
  });
}

/** Leaves out attributes without a value. */
function said(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

function usageAttributes({ usage = {} }: Answer): Attributes {
  return {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
  };
}

/** Makes a call and reports its outcome to its span. */
async function told(
  span: Span,
  call: {
    readonly tell: (answer: Answer) => unknown;
    readonly signal: AbortSignal;
    make(): Promise<Answer>;
  },
): Promise<Answer> {
  try {
    const answer = await call.make();
    quietly(() => call.tell(answer));
    return answer;
  } catch (error) {
    quietly(() => tellError(span, error, call.signal));
    throw error;
  } finally {
    quietly(() => span.end());
  }
}

function tellError(span: Span, error: unknown, { aborted }: AbortSignal): void {
  const message = error instanceof Error ? error.message : String(error);
  span.setAttributes({ 'error.type': aborted ? 'aborted' : typeOf(error) });
  if (error instanceof Error) span.recordException(error);
  span.setStatus({ code: errorStatus, message });
}

function typeOf(error: unknown): string {
  if (ModelCallError.isInstance(error)) return error.kind;
  if (EspalierError.isInstance(error)) return error.code;
  return error instanceof Error ? error.name : '_OTHER';
}

function quietly<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
