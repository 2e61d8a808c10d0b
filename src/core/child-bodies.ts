/** Reads the children of a container, which stand for its content when the container itself is read (2093-5). */
import type { Resource } from '../protocol/resources.ts';
import { bytesOf, closeBodies, knownSize, type ResourceBody } from './body.ts';
import type { Context } from './context.ts';
import { ResourceError, type ResourceErrorCode } from './errors.ts';

/**
 * Reads children in list order, each whole. Leaves out a child without a body, of unknown size, larger than what is left of
 * `maxBytes`, or that cannot be read (`leavingOut`). A child that has children itself gets an empty body.
 * @param uri the container
 * @param bodyOf reads one child; `budget` is what is left of `maxBytes`. Undefined leaves the child out.
 * @throws the reason of `ctx.signal`, and errors as `leavingOut` does
 */
export async function childBodies(
  uri: string,
  children: readonly Resource[],
  maxBytes: number,
  bodyOf: (child: Resource, budget: number) => Promise<ResourceBody | undefined>,
  ctx: Context,
): Promise<readonly ResourceBody[]> {
  const bodies: ResourceBody[] = [];
  const unread = leavingOut(uri, ctx);
  let budget = maxBytes;
  try {
    for (const resource of children) {
      ctx.signal.throwIfAborted();
      const isContainer = resource.capabilities?.list === true;
      const body = isContainer
        ? { resource, content: bytesOf(new Uint8Array()) }
        : await bodyOf(resource, budget).catch((error: unknown) => unread.leaveOut(resource.uri, error));
      if (body === undefined) continue;
      const size = knownSize(body.content);
      if (size === undefined || size > budget) {
        await body.close?.();
        continue;
      }
      budget -= size;
      bodies.push({ ...body, child: true });
    }
    unread.end(bodies.length);
    return bodies;
  } catch (error) {
    await closeBodies(bodies);
    throw error;
  }
}

/** A child with such an error is gone, not for the caller, or nothing that can be read: the others are the whole answer. */
const NOT_FOR_READING: ReadonlySet<ResourceErrorCode> = new Set([
  'not-found',
  'denied',
  'too-large',
  'invalid',
  'not-listable',
]);

/** The children of one container that cannot be read. */
export interface LeavingOut {
  /**
   * Leaves out a child. Unless it is not there for the caller, the answer says that it is not complete.
   * @throws the reason of the signal; an error that is not a `ResourceError`, which is a fault of the program
   */
  leaveOut(child: string, error: unknown): undefined;
  /** @param count how many children were read. @throws the first error that makes the answer incomplete, if there are none */
  end(count: number): void;
}

/** @param uri the container */
export function leavingOut(uri: string, ctx: Context): LeavingOut {
  let first: ResourceError | undefined;
  return {
    leaveOut(child, error) {
      ctx.signal.throwIfAborted();
      if (!(error instanceof ResourceError)) throw error;
      ctx.log.debug('left out of the read of a container', { uri: child, error });
      if (NOT_FOR_READING.has(error.code)) return;
      // No URI, because the caller may not be allowed to see it.
      if (first === undefined) ctx.notes?.missing({ reason: 'Some children cannot be read now' });
      first ??= error;
    },
    end(count) {
      if (count === 0 && first !== undefined) throw first.withUri(uri);
    },
  };
}
