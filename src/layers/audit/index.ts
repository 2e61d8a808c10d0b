/** The audit layer, outermost: one line for each operation, in a chain that shows what was done to it (RES-9). */

import { countedBodies } from '../../core/body.ts';
import { type Context, type Log, SILENT } from '../../core/context.ts';
import type { Decided } from '../../core/decided.ts';
import type { Gate } from '../../core/gate.ts';
import type { Layer } from '../../core/layer.ts';
import { wrapProvider } from '../../core/layer.ts';
import { type Anchor, type AnchorOptions, anchorOf, assertAnchor, createAnchor } from './anchor.ts';
import { fileOutput } from './file-output.ts';
import { createJournal, type Journal } from './journal.ts';
import { createMembers } from './members.ts';
import {
  ended,
  type Operation,
  operationOf,
  outcomeOfError,
  outcomeOfResult,
  type Target,
  within,
} from './operation.ts';
import { errorOutput } from './output.ts';

export interface AuditOptions {
  /** Where the lines go: a file, or `-` for standard error. */
  readonly file: string;
  /** Bytes of one file, until it is put away. */
  readonly maxBytes?: number | undefined;
  /** Files that are kept, with the one that is written to; at least 2. */
  readonly maxFiles?: number | undefined;
  /** Where the head of the chain is noted as well. Default: nowhere. */
  readonly anchor?: string | AnchorOptions | undefined;
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
  const elsewhere = options.anchor === undefined ? undefined : anchorOf(options.anchor);
  if (elsewhere !== undefined) assertAnchor(elsewhere, file);
  let journal: Journal<Operation> | undefined;
  let anchor: Anchor | undefined;
  const take: Take = (operation) => journal?.add(operation);
  return {
    layer: auditLayer(take),
    gate: auditGate(take),
    refused(asked, ctx, error, decided) {
      const operation = operationOf(asked, ctx);
      if (decided !== undefined) operation.decided = decided;
      take(ended(operation, outcomeOfError(error, ctx)));
    },
    open() {
      const output = file === '-' ? errorOutput() : fileOutput({ file, maxBytes, maxFiles: Math.max(2, maxFiles) });
      const writing = createJournal<Operation>(output, log, { membersOf: createMembers(mountOf) });
      journal = writing;
      anchor = elsewhere && createAnchor(elsewhere, writing.head, log);
    },
    async close() {
      await journal?.close();
      await anchor?.close();
    },
  };
}

/** Is given each operation that has ended. */
type Take = (operation: Operation) => void;

/** Records what is neither a provider's operation nor within one. */
export function auditGate(take: Take): Gate {
  return (asked, ctx, run) => recorded(take, asked, ctx, run);
}

/** Records every operation of a provider when it has ended; a read when its last byte was taken, or nobody wants more. */
export function auditLayer(take: Take): Layer {
  return (inner) =>
    wrapProvider(inner, {
      list: (uri, page, ctx) => recorded(take, { method: 'list', uri }, ctx, (own) => inner.list(uri, page, own)),
      metadata: (uri, ctx) => recorded(take, { method: 'metadata', uri }, ctx, (own) => inner.metadata(uri, own)),
      // Without a frame that waits: each read comes by here.
      read(uri, want, ctx) {
        const operation = operationOf({ method: 'read', uri }, ctx);
        const end = (bytes: number | undefined, failure?: { readonly error: unknown }): void =>
          take(ended(operation, failure === undefined ? 'ok' : outcomeOfError(failure.error, ctx), bytes));
        return inner.read(uri, want, within(operation, ctx)).then(
          (bodies) => countedBodies(bodies, end),
          (error: unknown) => {
            end(undefined, { error });
            throw error;
          },
        );
      },
      listTemplates: (page, ctx) =>
        recorded(
          take,
          { method: 'templates' },
          ctx,
          async (own) => (await inner.listTemplates?.(page, own)) ?? { resourceTemplates: [] },
        ),
      complete: (request, ctx) =>
        recorded(
          take,
          { method: 'complete', uri: request.uriTemplate },
          ctx,
          async (own) => (await inner.complete?.(request, own)) ?? { values: [], hasMore: false },
        ),
      watch: (uri, onChange, ctx) =>
        recorded(
          take,
          { method: 'watch', uri },
          ctx,
          async (own) => (await inner.watch?.(uri, onChange, own)) ?? { [Symbol.asyncDispose]: async () => {} },
        ),
      async *search(query, ctx) {
        const operation = operationOf({ method: 'search', uri: query.uri }, ctx);
        let outcome = 'ok';
        try {
          yield* inner.search?.(query, within(operation, ctx)) ?? [];
        } catch (error) {
          outcome = outcomeOfError(error, ctx);
          throw error;
        } finally {
          take(ended(operation, outcome));
        }
      },
    });
}

async function recorded<T, C extends Context>(
  take: Take,
  asked: Target,
  ctx: C,
  run: (ctx: C) => Promise<T>,
): Promise<T> {
  const operation = operationOf(asked, ctx);
  try {
    const result = await run(within(operation, ctx));
    take(ended(operation, outcomeOfResult(result)));
    return result;
  } catch (error) {
    take(ended(operation, outcomeOfError(error, ctx)));
    throw error;
  }
}
