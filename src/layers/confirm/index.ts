/** The confirm layer: some resources are read only after a human said so. */
import picomatch from 'picomatch';
import { ConfirmationNeeded } from '../../core/confirmation.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';

export interface ConfirmOptions {
  /** Globs over published URIs, such as `docs+file:///private/**`. */
  readonly uris: readonly string[];
}

/** Refuses reads of matching resources until the context says that a human has confirmed this URI for this request. */
export function confirmLayer(options: ConfirmOptions): Layer {
  const matches = picomatch([...options.uris], { dot: true });
  return (inner) =>
    wrapProvider(inner, {
      async read(uri, want, ctx) {
        // Asked of the canonical URI, so that another spelling does not go round the question.
        const { uri: canonical } = await inner.metadata(uri, ctx);
        if (matches(canonical) && !ctx.confirmed.has(canonical)) {
          throw new ConfirmationNeeded(canonical, `May this be read? ${canonical}`);
        }
        const bodies = await inner.read(uri, want, ctx);
        const shown = bodies.filter(
          (body) => !body.child || !matches(body.resource.uri) || ctx.confirmed.has(body.resource.uri),
        );
        await Promise.all(bodies.filter((body) => !shown.includes(body)).map((body) => body.close?.()));
        return shown;
      },
      // A search would answer questions about the content without asking anybody.
      async *search(query, ctx) {
        for await (const match of inner.search?.(query, ctx) ?? []) {
          if (!matches(match.uri) || ctx.confirmed.has(match.uri)) yield match;
        }
      },
    });
}
