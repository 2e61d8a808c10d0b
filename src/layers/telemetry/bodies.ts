/** How much of a read was taken, and when it ended: with the last byte, or when nobody wants more. */
import { closeBodies, type ResourceBody } from '../../core/body.ts';

/** The bodies as they are. @param end called once, when all were drained, closed, or one has failed */
export function countedBodies(
  bodies: readonly ResourceBody[],
  end: (bytes: number, error: unknown) => void,
): readonly ResourceBody[] {
  let bytes = 0;
  let failed: unknown;
  const open = new Set<ResourceBody>();
  for (const body of bodies) {
    if (body.content.kind === 'bytes') bytes += body.content.bytes.byteLength;
    else open.add(body);
  }
  if (open.size === 0) end(bytes, undefined);
  return bodies.map((body): ResourceBody => {
    const { content } = body;
    if (content.kind === 'bytes') return body;
    const done = (): void => {
      if (open.delete(body) && open.size === 0) end(bytes, failed);
    };
    async function* counted(): AsyncIterable<Uint8Array> {
      if (content.kind === 'bytes') return;
      try {
        for await (const chunk of content.open()) {
          bytes += chunk.byteLength;
          yield chunk;
        }
      } catch (error) {
        failed = error;
        throw error;
      } finally {
        done();
      }
    }
    return {
      ...body,
      content: { ...content, open: counted },
      close: async () => {
        done();
        await closeBodies([body]);
      },
    };
  });
}
