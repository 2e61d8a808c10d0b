/** Measures the operations of mounts: a span below the request's span, the duration, and the bytes that were read. */
import { type Attributes, context, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { type Around, aroundEach, MAY_ASK } from '../../core/around.ts';
import { isAsked } from '../../core/asking/needed.ts';
import { countedBodies, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import type { Layer } from '../../core/layer.ts';
import type { Trace } from '../../core/trace.ts';
import type { Instruments } from './instruments.ts';
import * as names from './names.ts';
import { errorType, SpanTrace } from './trace.ts';

type MountOf = (uri: string) => string | undefined;

/** An operation that has begun. */
interface Begun {
  /** The trace under which work within the operation adds its spans. */
  readonly trace: Trace | undefined;
  run<T>(work: () => T): T;
  end(error?: string, bytes?: number): void;
}

type Begin = (operation: string, uri: string | undefined, ctx: Context, mount?: string) => Begun;

/** Makes the function that begins an operation. The duration is measured even if the request may have no more spans. */
function beginner(instruments: Instruments, mountOf: MountOf): Begin {
  return (operation, uri, ctx, givenMount) => {
    const mount = givenMount ?? (uri === undefined ? undefined : mountOf(uri));
    const shownUri = instruments.uriOf(uri);
    const common: Attributes = { [names.OPERATION]: operation, ...(mount !== undefined && { [names.MOUNT]: mount }) };
    const parent = ctx.trace instanceof SpanTrace ? ctx.trace : undefined;
    const begun = parent?.begin(mount === undefined ? operation : `${operation} ${mount}`, SpanKind.INTERNAL, {
      ...common,
      ...(shownUri !== undefined && { [names.MCP_URI]: shownUri }),
    });
    const startedAt = performance.now();
    return {
      trace: begun?.trace ?? ctx.trace,
      run: (work) => (begun === undefined ? work() : context.with(begun.trace.context, work)),
      end(error, bytes) {
        const ended: Attributes = error === undefined ? {} : { [names.ATTR_ERROR_TYPE]: error };
        instruments.operations.record((performance.now() - startedAt) / 1_000, { ...common, ...ended });
        if (bytes !== undefined && mount !== undefined) instruments.addBytes(bytes, { [names.MOUNT]: mount });
        if (begun === undefined) return;
        begun.span.setAttributes({ ...ended, ...(bytes !== undefined && { [names.BYTES]: bytes }) });
        if (error !== undefined) begun.span.setStatus({ code: SpanStatusCode.ERROR });
        begun.span.end();
      },
    };
  };
}

const typeOf = (error: unknown, { signal }: Context): string => (signal.aborted ? 'cancelled' : errorType(error));

/** Makes the layer that measures operations. It has to be the outermost one, so that it measures the other layers, too. */
export function operationsLayer(instruments: Instruments, mountOf: MountOf): Layer {
  const begin = beginner(instruments, mountOf);

  const observed: Around = async ({ method, uri, mount }, ctx, run) => {
    // A method with a slash, such as `tools/call`, gets no span of its own: the request's span has its name already.
    const isRequest = method.includes('/');
    const { trace, ...operation } = begin(method, uri, isRequest ? { ...ctx, trace: undefined } : ctx, mount);
    // A watch outlives the request, and so it must not add spans to the request's trace.
    const within = method === 'watch' ? undefined : isRequest ? ctx.trace : trace;
    try {
      const result = await operation.run(() => run(within === ctx.trace ? ctx : { ...ctx, trace: within }));
      operation.end();
      return result;
    } catch (error) {
      operation.end(MAY_ASK.has(method) && isAsked(error, ctx) ? undefined : typeOf(error, ctx));
      throw error;
    }
  };

  return (inner) =>
    aroundEach(inner, observed, {
      async read(uri, want, ctx) {
        const { trace, run, end } = begin('read', uri, ctx);
        let bodies: readonly ResourceBody[];
        try {
          bodies = await run(() => inner.read(uri, want, { ...ctx, trace }));
        } catch (error) {
          end(typeOf(error, ctx));
          throw error;
        }
        return countedBodies(bodies, (bytes, failure) =>
          end(failure === undefined ? undefined : typeOf(failure.error, ctx), bytes),
        );
      },
      async *search(query, ctx) {
        const { trace, end } = begin('search', query.uri, ctx);
        let failed: string | undefined;
        try {
          yield* inner.search?.(query, { ...ctx, trace }) ?? [];
        } catch (error) {
          failed = typeOf(error, ctx);
          throw error;
        } finally {
          end(failed);
        }
      },
    });
}
