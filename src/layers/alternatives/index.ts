/**
 * The alternatives layer: a resource offers other formats of itself, as documents do their text (2093-6, 2093-8). They are
 * converted when somebody wants them, in processes of their own, and kept by what they are made of.
 */

import { createOrigins } from '../../core/again.ts';
import type { ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { bestFormat } from '../../core/formats/accept.ts';
import { isBetterAsText, TEXT_TYPES } from '../../core/formats/formats.ts';
import { oncePerKept } from '../../core/kept.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import { mapEntries } from '../../core/lists/entries.ts';
import type { ReadOptions } from '../../core/provider.ts';
import { CHARSET_META_KEY, FORMATS_META_KEY } from '../../protocol/meta.ts';
import type { Resource } from '../../protocol/resources.ts';
import { createCatalogue, type Format, utf8Format } from './catalogue.ts';
import { withFormats } from './describe.ts';
import { type AlternativesOptions, limitsOf } from './options.ts';
import { convertible, type Reading, readAccepted, withText } from './read.ts';
import { createFormatStore, type FormatStoreContext } from './store.ts';

export { missingPackages } from './catalogue.ts';
export type { AlternativesOptions } from './options.ts';

export interface Alternatives {
  readonly layer: Layer;
  /** Conversions that were begun; read whenever metrics are. */
  conversions(): number;
  /** Ends what is being converted, and the processes that do it. */
  close(): Promise<void>;
}

export interface AlternativesContext extends FormatStoreContext {
  /** Whether a resource may have formats, by its URI. Default: every one. */
  readonly concerns?: ((uri: string) => boolean) | undefined;
}

/** Starts nothing: processes are started with the first conversion. */
export function createAlternatives(
  options: AlternativesOptions = {},
  { concerns = () => true, ...making }: AlternativesContext = {},
): Alternatives {
  const limits = limitsOf(options);
  const catalogue = createCatalogue(limits.except);
  const store = createFormatStore(limits, making);

  /** Returns the formats to offer: none where the provider names its own, or for a container, which has no content. */
  function formatsOf({ uri, mimeType, capabilities, _meta }: Resource): readonly Format[] | undefined {
    const known = catalogue.formatsOf(mimeType);
    // Only what was read is known not to be UTF-8.
    const charset = _meta?.[CHARSET_META_KEY];
    const formats =
      mimeType !== undefined && charset !== undefined && bestFormat([mimeType], limits.except) === undefined
        ? [utf8Format(mimeType), ...(known ?? [])]
        : known;
    if (formats === undefined || capabilities?.list || _meta?.[FORMATS_META_KEY] !== undefined) return undefined;
    return concerns(uri) ? formats : undefined;
  }

  const described = oncePerKept((resource: Resource): Resource => {
    const formats = formatsOf(resource);
    return formats === undefined ? resource : withFormats(resource, formats);
  });

  return {
    layer: (inner) => {
      const reading: Reading = { inner, store, limits, formatsOf };
      const origins = createOrigins(inner);
      return wrapProvider(inner, {
        metadata: (uri, ctx) => inner.metadata(uri, ctx).then(described),
        async list(uri, page, ctx) {
          const listed = await inner.list(uri, page, ctx);
          return origins.made({ ...listed, resources: mapEntries(listed.resources, described, ctx) }, listed);
        },
        listAgain: origins.listAgain,
        // Bodies without another format are given as they came; for the others, new bodies are made, which nobody knows.
        again: inner.again,
        read(uri, want, ctx) {
          const { accept, range } = want;
          if (accept !== undefined) return readAccepted(reading, uri, want, accept, ctx);
          // A window is one of the original unless another format is asked for: the next one has to fit it.
          if (range !== undefined) return inner.read(uri, want, ctx);
          return inner.read(uri, want, ctx).then(
            (bodies) => {
              const formats = convertible(bodies, reading);
              const [body] = bodies;
              return formats === undefined || body === undefined ? bodies : withText(reading, body, formats, want, ctx);
            },
            (error: unknown) => {
              if (!(error instanceof ResourceError) || error.code !== 'too-large') throw error;
              return largeText(reading, uri, want, ctx, error);
            },
          );
        },
      });
    },
    conversions: () => store.conversions(),
    close: () => store.close(),
  };
}

/** The text of what its provider finds too large to be read whole, where it has one; else what the provider says. */
async function largeText(
  reading: Reading,
  uri: string,
  want: ReadOptions,
  ctx: Context,
  error: ResourceError,
): Promise<readonly ResourceBody[]> {
  const resource = await reading.inner.metadata(uri, ctx);
  if (reading.formatsOf(resource) === undefined || !isBetterAsText(resource.mimeType)) throw error;
  return readAccepted(reading, uri, want, TEXT_TYPES, ctx);
}
