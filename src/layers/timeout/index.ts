/** The timeout layer ends an operation that takes too long with an error, and aborts its work (RES-7). */
import { type Around, type AroundMethod, aroundEach } from '../../core/around.ts';
import { chunksOf, closeBodies, type ResourceBody } from '../../core/body.ts';
import { sameBytes } from '../../core/content-version.ts';
import { type Context, withSignal } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Layer } from '../../core/layer.ts';

export interface TimeoutOptions {
  /** Milliseconds for each operation. For a read, its content has to arrive in this time, too. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds for operations of one kind, in place of `timeoutMs`. */
  readonly timeouts?: Readonly<Partial<Record<TimedOperation, number | undefined>>> | undefined;
}

/** Operations that have a time limit. In a `search`, each match has a limit of its own. */
export type TimedOperation = 'list' | 'metadata' | 'read' | 'templates' | 'complete' | 'search';

export const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * The methods that have a limit, beside `read` and `search`, which are handled apart. Calls, prompts and subscriptions have none:
 * they last as long as the caller wants.
 */
const TIMED: Readonly<Partial<Record<AroundMethod, TimedOperation>>> = {
  list: 'list',
  metadata: 'metadata',
  templates: 'templates',
  complete: 'complete',
  'skills/list': 'list',
  'skills/get': 'list',
};

/** Ends operations after a time. A watch has no limit: it lasts as long as somebody wants it. */
export function timeoutLayer(options: TimeoutOptions = {}): Layer {
  const { timeouts = {}, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const limitOf = (operation: TimedOperation): number => timeouts[operation] ?? timeoutMs;
  const limited: Around = ({ method, uri }, ctx, run) => {
    const timed = TIMED[method];
    // The error of a completion names no URI: the URI of a completion is that of its template, not of a slow resource.
    return timed === undefined ? run(ctx) : within(limitOf(timed), timed === 'complete' ? undefined : uri, ctx, run);
  };
  return (inner) =>
    aroundEach(inner, limited, {
      // To give a kept answer again takes no time, so it has no limit.
      again: inner.again,
      listAgain: inner.listAgain,
      callToolAgain: inner.callToolAgain,
      async read(uri, want, ctx) {
        const deadline = startDeadline(limitOf('read'), uri, ctx);
        const reading = inner.read(uri, want, deadline.ctx);
        try {
          const bodies = await deadline.race(reading);
          const open = { count: bodies.filter((body) => body.content.kind === 'stream').length };
          if (open.count === 0) {
            deadline.end();
            return bodies;
          }
          return bodies.map((body) => limitedBody(body, deadline, open));
        } catch (error) {
          deadline.end();
          // Nobody reads bodies that arrive too late, so they are closed.
          reading.then(closeBodies).catch(() => {});
          throw error;
        }
      },
      async *search(query, ctx) {
        if (inner.search === undefined) return;
        const ended = new AbortController();
        const searchCtx = withSignal(ctx, AbortSignal.any([ctx.signal, ended.signal]));
        const matches = inner.search(query, searchCtx)[Symbol.asyncIterator]();
        try {
          for (;;) {
            // Each match has a time limit of its own. Between two matches, the caller may take as long as it likes.
            const next = await within(limitOf('search'), query.uri, searchCtx, () => matches.next());
            if (next.done) return;
            yield next.value;
          }
        } catch (error) {
          ended.abort(error);
          throw error;
        } finally {
          ended.abort();
          // Not awaited: if the source hangs, its `return` hangs, too.
          void matches.return?.().then(undefined, () => {});
        }
      },
    });
}

interface Deadline<C extends Context = Context> {
  readonly ctx: C;
  /** Settles as the work does. Rejects if the time is over or the caller has gone before that. */
  race<T>(work: Promise<T>): Promise<T>;
  end(): void;
}

function startDeadline<C extends Context>(timeoutMs: number, uri: string | undefined, ctx: C): Deadline<C> {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = (reason: unknown): void => controller.abort(reason);
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
  });
  signal.addEventListener('abort', onAbort, { once: true });
  aborted.catch(() => {});
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
  return {
    ctx: withSignal(ctx, signal) as C,
    race: (work) => Promise.race([work, aborted]),
    end() {
      clearTimeout(timer);
      ctx.signal.removeEventListener('abort', onCallerGone);
      // Node.js may keep the signal after the operation has ended, and the signal would keep its listeners.
      signal.removeEventListener('abort', onAbort);
    },
  };
}

async function within<T, C extends Context>(
  timeoutMs: number,
  uri: string | undefined,
  ctx: C,
  run: (ctx: C) => Promise<T>,
): Promise<T> {
  const deadline = startDeadline(timeoutMs, uri, ctx);
  try {
    return await deadline.race(run(deadline.ctx));
  } finally {
    deadline.end();
  }
}

async function* untilDeadline<T>(source: AsyncIterable<T>, deadline: Deadline): AsyncIterable<T> {
  const items = source[Symbol.asyncIterator]();
  try {
    for (let next = await deadline.race(items.next()); !next.done; next = await deadline.race(items.next())) {
      yield next.value;
    }
  } finally {
    // Not awaited: if the source hangs, its `return` hangs, too.
    void items.return?.().then(undefined, () => {});
  }
}

/**
 * Applies the deadline of a read to the stream of one body.
 * @param open how many streams of the read have not ended; the last one ends the deadline
 */
function limitedBody(body: ResourceBody, deadline: Deadline, open: { count: number }): ResourceBody {
  if (body.content.kind === 'bytes') return body;
  const { content } = body;
  let ended = false;
  const end = (): void => {
    if (!ended && --open.count === 0) deadline.end();
    ended = true;
  };
  async function* limited(): AsyncIterable<Uint8Array> {
    try {
      yield* untilDeadline(chunksOf(content), deadline);
    } finally {
      end();
    }
  }
  return {
    ...body,
    content: sameBytes({ ...content, open: limited }, content),
    close: async () => {
      end();
      await body.close?.();
    },
  };
}
