/** The audit layer, outermost, writes one line for each operation, in a chain that shows if lines were changed (RES-9). */

import { type Around, aroundEach, MAY_ASK } from '../../core/around.ts';
import { isAsked } from '../../core/asking/needed.ts';
import { countedBodies } from '../../core/body.ts';
import { type Context, type Log, SILENT } from '../../core/context.ts';
import type { Decided } from '../../core/decided.ts';
import type { Layer } from '../../core/layer.ts';
import { type Anchor, type AnchorOptions, anchorOf, assertAnchor, createAnchor } from './anchor.ts';
import { fileOutput } from './file-output.ts';
import { createJournal, type Journal } from './journal.ts';
import { type LastLines, lastLines } from './last.ts';
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
  /** The file that lines are written to, or `-` for standard error. */
  readonly file: string;
  /** The most bytes of one file. Then a new one begins. Default: 16 MiB. */
  readonly maxBytes?: number | undefined;
  /** The most files that are kept, including the current one; at least 2. Default: 10. */
  readonly maxFiles?: number | undefined;
  /** Another place, in which the head of the chain is noted. Default: none. */
  readonly anchor?: string | AnchorOptions | undefined;
  /** Gets messages about lines that cannot be written. Default: none are logged. */
  readonly log?: Log | undefined;
}

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
const DEFAULT_MAX_FILES = 10;

export interface Audit {
  readonly layer: Layer;
  /** Records a request that was refused before any of its operations began. @param decided the decision, if a rule refused it */
  readonly refused: (target: Target, ctx: Context, error: unknown, decided?: Decided) => void;
  /**
   * Opens the file. Nothing is recorded before.
   * @throws ResourceError `invalid` when it cannot be written, is in use, or does not end as an audit file does
   */
  open(): void;
  /** The last lines that were written, the latest last; undefined if lines go to standard error. */
  last(): Promise<LastLines | undefined>;
  /** Writes the lines that wait, and closes the file. */
  close(): Promise<void>;
}

/** The audit of one server. @param mountOf the mount that a published URI belongs to */
export function createAudit(options: AuditOptions, mountOf: (uri: string) => string | undefined): Audit {
  const { file, maxBytes = DEFAULT_MAX_BYTES, maxFiles = DEFAULT_MAX_FILES, log = SILENT } = options;
  const anchorOptions = options.anchor === undefined ? undefined : anchorOf(options.anchor);
  if (anchorOptions !== undefined) assertAnchor(anchorOptions, file);
  let journal: Journal<Operation> | undefined;
  let anchor: Anchor | undefined;
  const take: Take = (operation) => journal?.add(operation);
  return {
    layer: auditLayer(take),
    refused(target, ctx, error, decided) {
      const operation = operationOf(target, ctx);
      if (decided !== undefined) operation.decided = decided;
      take(ended(operation, outcomeOfError(error, ctx)));
    },
    open() {
      const output = file === '-' ? errorOutput() : fileOutput({ file, maxBytes, maxFiles: Math.max(2, maxFiles) });
      const created = createJournal<Operation>(output, log, { membersOf: createMembers(mountOf) });
      journal = created;
      anchor = anchorOptions && createAnchor(anchorOptions, created.head, log);
    },
    last: async () => (file === '-' ? undefined : lastLines(file)),
    async close() {
      await journal?.close();
      await anchor?.close();
    },
  };
}

/** Takes each operation that has ended, and records it. */
type Take = (operation: Operation) => void;

/** Records at once, or, if the answer has several parts, when it is certain that all of them are given again. */
const onceCertain = (ctx: Context, record: () => void): void =>
  ctx.onceCertain === undefined ? record() : ctx.onceCertain(record);

/** Records every operation when it has ended. A read ends when its last byte was taken, or when its bodies are closed. */
export function auditLayer(take: Take): Layer {
  const recorded: Around = async (target, ctx, run) => {
    const operation = operationOf(target, ctx);
    try {
      const result = await run(within(operation, ctx));
      // Metadata that a read requests belongs to the line of the read.
      if (!(target.method === 'metadata' && ctx.purpose === 'read')) take(ended(operation, outcomeOfResult(result)));
      return result;
    } catch (error) {
      // If the client is asked for something that is missing, nothing has failed yet.
      const isQuestion = MAY_ASK.has(target.method) && isAsked(error, ctx);
      take(ended(operation, isQuestion ? 'input-required' : outcomeOfError(error, ctx)));
      throw error;
    }
  };

  return (inner) =>
    aroundEach(inner, recorded, {
      // Not an async function, since every read comes through here and need not wait.
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
      again(bodies, uri, want, ctx) {
        const operation = operationOf({ method: 'read', uri }, ctx);
        if (inner.again?.(bodies, uri, want, within(operation, ctx)) !== true) return false;
        onceCertain(ctx, () => countedBodies(bodies, (bytes) => take(ended(operation, 'ok', bytes))));
        return true;
      },
      listAgain(page, uri, want, ctx) {
        const operation = operationOf({ method: 'list', uri }, ctx);
        if (inner.listAgain?.(page, uri, want, within(operation, ctx)) !== true) return false;
        ended(operation, 'ok');
        onceCertain(ctx, () => take(operation));
        return true;
      },
      callToolAgain(request, owner, ctx) {
        const operation = operationOf({ method: 'tools/call', name: request.name, mount: owner.mount }, ctx);
        const members = inner.callToolAgain?.(request, owner, within(operation, ctx));
        if (members !== undefined) take(ended(operation, 'ok'));
        return members;
      },
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
