/** The timeout layer: an operation that takes too long ends with an error, and its work is told to stop (RES-7). */
import { chunksOf, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Layer } from '../../core/layer.ts';
import { wrapProvider } from '../../core/layer.ts';

export interface TimeoutOptions {
  /** For each operation, and for the whole of a read with its content; in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

export const DEFAULT_TIMEOUT_MS = 30_000;

/** Ends operations after a time. Watching is not one: it lasts as long as somebody wants it. */
export function timeoutLayer(options: TimeoutOptions = {}): Layer {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  return (inner) =>
    wrapProvider(inner, {
      list: (uri, page, ctx) => within(timeoutMs, uri, ctx, (limited) => inner.list(uri, page, limited)),
      metadata: (uri, ctx) => within(timeoutMs, uri, ctx, (limited) => inner.metadata(uri, limited)),
      async read(uri, want, ctx) {
        const deadline = startDeadline(timeoutMs, uri, ctx);
        try {
          const bodies = await deadline.race(inner.read(uri, want, deadline.ctx));
          const open = { count: bodies.filter((body) => body.content.kind === 'stream').length };
          if (open.count === 0) deadline.end();
          return bodies.map((body) => limitedBody(body, deadline, open));
        } catch (error) {
          deadline.end();
          throw error;
        }
      },
      listTemplates: (page, ctx) =>
        within(
          timeoutMs,
          undefined,
          ctx,
          async (limited) => (await inner.listTemplates?.(page, limited)) ?? { resourceTemplates: [] },
        ),
      complete: (request, ctx) =>
        within(
          timeoutMs,
          undefined,
          ctx,
          async (limited) => (await inner.complete?.(request, limited)) ?? { values: [], hasMore: false },
        ),
    });
}

interface Deadline {
  readonly ctx: Context;
  /** What the work gives, or the timeout, whichever is first. */
  race<T>(work: Promise<T>): Promise<T>;
  end(): void;
}

function startDeadline(timeoutMs: number, uri: string | undefined, ctx: Context): Deadline {
  const controller = new AbortController();
  const abort = (reason: unknown): void => controller.abort(reason);
  const onCallerGone = (): void => abort(ctx.signal.reason);
  if (ctx.signal.aborted) onCallerGone();
  ctx.signal.addEventListener('abort', onCallerGone, { once: true });
  const timer = setTimeout(
    () =>
      abort(
        new ResourceError('timeout', `The operation took longer than ${timeoutMs} ms`, {
          uri,
          details: { limitMs: timeoutMs },
        }),
      ),
    timeoutMs,
  );
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true });
  });
  aborted.catch(() => {});
  return {
    ctx: Object.freeze({ ...ctx, signal: controller.signal }),
    race: (work) => Promise.race([work, aborted]),
    end() {
      clearTimeout(timer);
      ctx.signal.removeEventListener('abort', onCallerGone);
    },
  };
}

async function within<T>(
  timeoutMs: number,
  uri: string | undefined,
  ctx: Context,
  run: (ctx: Context) => Promise<T>,
): Promise<T> {
  const deadline = startDeadline(timeoutMs, uri, ctx);
  try {
    return await deadline.race(run(deadline.ctx));
  } finally {
    deadline.end();
  }
}

/** The deadline of a read goes on until its last stream has ended. */
function limitedBody(body: ResourceBody, deadline: Deadline, open: { count: number }): ResourceBody {
  if (body.content.kind === 'bytes') return body;
  const { content } = body;
  let ended = false;
  const end = (): void => {
    if (!ended && --open.count === 0) deadline.end();
    ended = true;
  };
  async function* limited(): AsyncIterable<Uint8Array> {
    const chunks = chunksOf(content)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await deadline.race(chunks.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      end();
      // Not awaited: a source that hangs would hang its end too.
      void chunks.return?.().then(undefined, () => {});
    }
  }
  return {
    ...body,
    content: { ...content, open: limited },
    close: async () => {
      end();
      await body.close?.();
    },
  };
}
