/** The audit layer, outermost: one line for each operation, in a chain that shows what was done to it (RES-9). */
import type { Decided } from '../../core/access.ts';
import { countedBodies } from '../../core/body.ts';
import { type Context, type Log, SILENT } from '../../core/context.ts';
import type { Gate } from '../../core/gate.ts';
import type { Layer } from '../../core/layer.ts';
import { wrapProvider } from '../../core/layer.ts';
import { createJournal, type Journal } from './journal.ts';
import { recordMembers } from './json.ts';
import { errorOutput, fileOutput } from './output.ts';
import { type AuditRecord, outcomeOfError, outcomeOfResult, startRecord, type Target } from './record.ts';

export interface AuditOptions {
  /** Where the lines go: a file, or `-` for standard error. */
  readonly file: string;
  /** Bytes of one file, until it is put away. */
  readonly maxBytes?: number | undefined;
  /** Files that are kept, with the one that is written to; at least 2. */
  readonly maxFiles?: number | undefined;
  /** Where it is said that lines cannot be written. */
  readonly log?: Log | undefined;
}

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
const DEFAULT_MAX_FILES = 10;

export interface Audit {
  readonly layer: Layer;
  readonly gate: Gate;
  /** Records a request that was refused before any of its operations had begun. @param decided by whom, if by a rule */
  readonly refused: (asked: Target, ctx: Context, error: unknown, decided?: Decided) => void;
  /**
   * Takes the file. Nothing is recorded before.
   * @throws ResourceError `invalid` when it cannot be written, is in use, or does not end as an audit file does
   */
  open(): void;
  /** Writes what waits, and ends. */
  close(): Promise<void>;
}

/** The audit of one server. @param mountOf the mount that a published URI belongs to */
export function createAudit(options: AuditOptions, mountOf: (uri: string) => string | undefined): Audit {
  const { file, maxBytes = DEFAULT_MAX_BYTES, maxFiles = DEFAULT_MAX_FILES, log = SILENT } = options;
  let journal: Journal<AuditRecord> | undefined;
  const take = (record: AuditRecord): void => journal?.add(record);
  return {
    layer: auditLayer(take, mountOf),
    gate: auditGate(take, mountOf),
    refused(asked, ctx, error, decided) {
      const { record, ctx: own } = startRecord(located(asked, mountOf), ctx);
      if (decided !== undefined) own.decided?.(decided);
      take(record(outcomeOfError(error, ctx)));
    },
    open() {
      const output = file === '-' ? errorOutput() : fileOutput({ file, maxBytes, maxFiles: Math.max(2, maxFiles) });
      journal = createJournal(output, log, { membersOf: recordMembers });
    },
    close: async () => journal?.close(),
  };
}

type Take = (record: AuditRecord) => void;
type MountOf = (uri: string) => string | undefined;

/** Records what is neither a provider's operation nor within one. */
export function auditGate(take: Take, mountOf: MountOf = () => undefined): Gate {
  return (operation, ctx, run) => recorded(take, located(operation, mountOf), ctx, run);
}

/** Records every operation of a provider when it has ended; a read when its last byte was taken, or nobody wants more. */
export function auditLayer(take: Take, mountOf: MountOf = () => undefined): Layer {
  return (inner) => {
    const at = (method: string, uri: string | undefined): Target => ({
      method,
      uri,
      mount: uri === undefined ? undefined : mountOf(uri),
    });
    return wrapProvider(inner, {
      list: (uri, page, ctx) => recorded(take, at('list', uri), ctx, (own) => inner.list(uri, page, own)),
      metadata: (uri, ctx) => recorded(take, at('metadata', uri), ctx, (own) => inner.metadata(uri, own)),
      async read(uri, want, ctx) {
        const { record, ctx: own } = startRecord(at('read', uri), ctx);
        try {
          return countedBodies(await inner.read(uri, want, own), (bytes, failure) =>
            take(record(failure === undefined ? 'ok' : outcomeOfError(failure.error, ctx), bytes)),
          );
        } catch (error) {
          take(record(outcomeOfError(error, ctx)));
          throw error;
        }
      },
      listTemplates: (page, ctx) =>
        recorded(
          take,
          at('templates', undefined),
          ctx,
          async (own) => (await inner.listTemplates?.(page, own)) ?? { resourceTemplates: [] },
        ),
      complete: (request, ctx) =>
        recorded(
          take,
          at('complete', request.uriTemplate),
          ctx,
          async (own) => (await inner.complete?.(request, own)) ?? { values: [], hasMore: false },
        ),
      watch: (uri, onChange, ctx) =>
        recorded(
          take,
          at('watch', uri),
          ctx,
          async (own) => (await inner.watch?.(uri, onChange, own)) ?? { [Symbol.asyncDispose]: async () => {} },
        ),
      async *search(query, ctx) {
        const { record, ctx: own } = startRecord(at('search', query.uri), ctx);
        let outcome = 'ok';
        try {
          yield* inner.search?.(query, own) ?? [];
        } catch (error) {
          outcome = outcomeOfError(error, ctx);
          throw error;
        } finally {
          take(record(outcome));
        }
      },
    });
  };
}

const located = (target: Target, mountOf: MountOf): Target =>
  target.mount === undefined && target.uri !== undefined ? { ...target, mount: mountOf(target.uri) } : target;

async function recorded<T, C extends Context>(
  take: Take,
  target: Target,
  ctx: C,
  run: (ctx: C) => Promise<T>,
): Promise<T> {
  const { record, ctx: own } = startRecord(target, ctx);
  try {
    const result = await run(own);
    take(record(outcomeOfResult(result)));
    return result;
  } catch (error) {
    take(record(outcomeOfError(error, ctx)));
    throw error;
  }
}
