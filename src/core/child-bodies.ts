/** Reads the children of a container, which stand for its content when the container itself is read (2093-5). */
import type { Resource } from '../protocol/resources.ts';
import { bytesOf, closeBodies, knownSize, type ResourceBody } from './body.ts';
import type { Context } from './context.ts';

/**
 * Reads children in list order, each whole. Leaves out a child without a body, of unknown size, or larger than what is left
 * of `maxBytes`. A child that has children itself gets an empty body.
 * @param bodyOf reads one child; `budget` is what is left of `maxBytes`. Undefined leaves the child out.
 * @throws the reason of `ctx.signal`, and what `bodyOf` throws
 */
export async function childBodies(
  children: readonly Resource[],
  maxBytes: number,
  bodyOf: (child: Resource, budget: number) => Promise<ResourceBody | undefined>,
  ctx: Context,
): Promise<readonly ResourceBody[]> {
  const bodies: ResourceBody[] = [];
  let budget = maxBytes;
  try {
    for (const resource of children) {
      ctx.signal.throwIfAborted();
      const isContainer = resource.capabilities?.list === true;
      const body = isContainer ? { resource, content: bytesOf(new Uint8Array()) } : await bodyOf(resource, budget);
      if (body === undefined) continue;
      const size = knownSize(body.content);
      if (size === undefined || size > budget) {
        await body.close?.();
        continue;
      }
      budget -= size;
      bodies.push({ ...body, child: true });
    }
    return bodies;
  } catch (error) {
    await closeBodies(bodies);
    throw error;
  }
}
