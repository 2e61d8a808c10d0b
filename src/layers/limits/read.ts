/**
 * Charges the bytes of a read to the memory budget, from before its content is opened until it is drained or closed. For
 * content that is read into lent memory, the charge lasts until the loan ends (RES-7).
 */
import { closeBodies, knownSize, type ResourceBody } from '../../core/body.ts';
import { sameBytes } from '../../core/content-version.ts';
import type { ReadOptions } from '../../core/provider.ts';
import type { Budget } from './budget.ts';

/** Contents up to this size are not charged, so that a small read costs nothing; the concurrency limit bounds their number. */
export const FREE_BYTES = 64 * 1024;

/** How long a read that is neither drained nor closed is charged, in milliseconds. */
const MAX_HOLD_MS = 60_000;

/** Returns how many bytes of memory the bodies may take: at most as many as the caller accepts. */
export function bytesOfRead(bodies: readonly ResourceBody[], { range, maxBytes }: ReadOptions): number {
  let bytes = 0;
  for (const { content } of bodies) {
    const size = knownSize(content) ?? maxBytes;
    bytes += range?.length === undefined ? size : Math.min(size, range.length);
  }
  return Math.min(bytes, maxBytes);
}

/** @throws ResourceError `limited`; the bodies are closed first */
export async function heldBodies(
  bodies: readonly ResourceBody[],
  want: ReadOptions,
  budget: Budget,
  signal: AbortSignal,
): Promise<readonly ResourceBody[]> {
  const bytes = bytesOfRead(bodies, want);
  if (bytes <= FREE_BYTES) return bodies;
  let release: () => void;
  try {
    release = await budget.reserve(bytes, signal);
  } catch (error) {
    await closeBodies(bodies);
    throw error;
  }
  const timer = setTimeout(release, MAX_HOLD_MS).unref();
  const over = (): void => {
    clearTimeout(timer);
    release();
  };
  let open = bodies.length;
  return bodies.map((body): ResourceBody => {
    let ended = false;
    const end = (): void => {
      if (!ended && --open === 0) {
        if (want.loan === undefined) over();
        else want.loan.onEnd(over);
      }
      ended = true;
    };
    const close = async (): Promise<void> => {
      end();
      await body.close?.();
    };
    if (body.content.kind === 'bytes') return { ...body, close };
    const { content } = body;
    async function* held(): AsyncIterable<Uint8Array> {
      try {
        yield* content.open();
      } finally {
        end();
      }
    }
    return { ...body, content: sameBytes({ ...content, open: held }, content), close };
  });
}
