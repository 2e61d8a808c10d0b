/** Operations of mounts: a span below the request that they are done for, a measurement, and the bytes that were read. */
import { type Attributes, context, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { countedBodies, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import type { Gate } from '../../core/gate.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import type { Instruments } from './instruments.ts';
import * as names from './names.ts';
import { errorType, SpanTrace } from './trace.ts';

type MountOf = (uri: string) => string | undefined;

/** An operation that has begun. */
interface Begun {
  /** For what is done within. */
  readonly ctx: Context;
  run<T>(work: () => T): T;
  end(error?: string, bytes?: number): void;
}

type Begin = (operation: string, uri: string | undefined, ctx: Context, mount?: string) => Begun;

/** Ways to begin an operation. Where the request has had its spans it is measured all the same. */
function beginner(instruments: Instruments, mountOf: MountOf): Begin {
  return (operation, uri, ctx, said) => {
    const mount = said ?? (uri === undefined ? undefined : mountOf(uri));
    const shown = instruments.uriOf(uri);
    const common: Attributes = { [names.OPERATION]: operation, ...(mount !== undefined && { [names.MOUNT]: mount }) };
    const place = ctx.trace instanceof SpanTrace ? ctx.trace : undefined;
    const begun = place?.begin(mount === undefined ? operation : `${operation} ${mount}`, SpanKind.INTERNAL, {
      ...common,
      ...(shown !== undefined && { [names.MCP_URI]: shown }),
    });
    const from = performance.now();
    return {
      ctx: begun === undefined ? ctx : { ...ctx, trace: begun.trace },
      run: (work) => (begun === undefined ? work() : context.with(begun.trace.context, work)),
      end(error, bytes) {
        const ended: Attributes = error === undefined ? {} : { [names.ATTR_ERROR_TYPE]: error };
        instruments.operations.record((performance.now() - from) / 1_000, { ...common, ...ended });
        if (bytes !== undefined && mount !== undefined) instruments.addBytes(bytes, { [names.MOUNT]: mount });
        if (begun === undefined) return;
        begun.span.setAttributes({ ...ended, ...(bytes !== undefined && { [names.BYTES]: bytes }) });
        if (error !== undefined) begun.span.setStatus({ code: SpanStatusCode.ERROR });
        begun.span.end();
      },
    };
  };
}

async function observed<T>({ ctx, run, end }: Begun, work: (ctx: Context) => Promise<T>): Promise<T> {
  try {
    const result = await run(() => work(ctx));
    end();
    return result;
  } catch (error) {
    end(typeOf(error, ctx));
    throw error;
  }
}

const typeOf = (error: unknown, { signal }: Context): string => (signal.aborted ? 'cancelled' : errorType(error));

/** Outermost, so that what the other layers take is within. */
export function operationsLayer(instruments: Instruments, mountOf: MountOf): Layer {
  const begin = beginner(instruments, mountOf);
  return (inner) =>
    wrapProvider(inner, {
      list: (uri, page, ctx) => observed(begin('list', uri, ctx), (within) => inner.list(uri, page, within)),
      metadata: (uri, ctx) => observed(begin('metadata', uri, ctx), (within) => inner.metadata(uri, within)),
      async read(uri, want, ctx) {
        const { ctx: within, run, end } = begin('read', uri, ctx);
        let bodies: readonly ResourceBody[];
        try {
          bodies = await run(() => inner.read(uri, want, within));
        } catch (error) {
          end(typeOf(error, ctx));
          throw error;
        }
        return countedBodies(bodies, (bytes, failure) =>
          end(failure === undefined ? undefined : typeOf(failure.error, ctx), bytes),
        );
      },
      listTemplates: (page, ctx) =>
        observed(
          begin('templates', undefined, ctx),
          async (within) => (await inner.listTemplates?.(page, within)) ?? { resourceTemplates: [] },
        ),
      complete: (request, ctx) =>
        observed(
          begin('complete', request.uriTemplate, ctx),
          async (within) => (await inner.complete?.(request, within)) ?? { values: [], hasMore: false },
        ),
      watch: (uri, onChange, ctx) =>
        observed(
          begin('watch', uri, ctx),
          // It outlives the request, and so the request's trace.
          async () =>
            (await inner.watch?.(uri, onChange, { ...ctx, trace: undefined })) ?? {
              [Symbol.asyncDispose]: async () => {},
            },
        ),
      async *search(query, ctx) {
        const { ctx: within, end } = begin('search', query.uri, ctx);
        let failed: string | undefined;
        try {
          yield* inner.search?.(query, within) ?? [];
        } catch (error) {
          failed = typeOf(error, ctx);
          throw error;
        } finally {
          end(failed);
        }
      },
    });
}

/** Calls of tools and prompts are measured by the mount that they are of; their span is the request's own. */
export function operationsGate(instruments: Instruments, mountOf: MountOf): Gate {
  const begin = beginner(instruments, mountOf);
  return ({ method, uri, mount }, ctx, run) => {
    if (method !== 'subscribe')
      return observed(begin(method, uri, { ...ctx, trace: undefined }, mount), () => run(ctx));
    return observed(begin(method, uri, ctx, mount), ({ trace }) => run({ ...ctx, trace }));
  };
}
