/**
 * The alternatives layer offers resources in other formats, such as the text of a document (2093-6, 2093-8). A format is
 * made when a caller wants it, in a process of its own, and kept by the hash of the content that it is made of.
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
import { type AlternativesOptions, withDefaults } from './options.ts';
import { convertible, type Reading, readAccepted, withText } from './read.ts';
import { createFormatStore, type FormatStoreContext } from './store.ts';

export { missingPackages } from './catalogue.ts';
export type { AlternativesOptions } from './options.ts';

export interface Alternatives {
  readonly layer: Layer;
  /** The number of conversions that have begun, for metrics. */
  conversions(): number;
  /** Ends running conversions and their processes. */
  close(): Promise<void>;
}

export interface AlternativesContext extends FormatStoreContext {
  /** Whether a resource may have formats, by its URI. Default: every one. */
  readonly concerns?: ((uri: string) => boolean) | undefined;
}

/** Creates the layer. Processes are started only with the first conversion. */
export function createAlternatives(
  options: AlternativesOptions = {},
  { concerns = () => true, ...making }: AlternativesContext = {},
): Alternatives {
  const limits = withDefaults(options);
  const catalogue = createCatalogue(limits.except);
  const store = createFormatStore(limits, making);

  /** Returns the formats to offer: none if the provider names its own, or for a container, which has no content. */
  function formatsOf({ uri, mimeType, capabilities, _meta }: Resource): readonly Format[] | undefined {
    const byType = catalogue.formatsOf(mimeType);
    // A charset is given only for a text that was read and is not UTF-8.
    const charset = _meta?.[CHARSET_META_KEY];
    const formats =
      mimeType !== undefined && charset !== undefined && bestFormat([mimeType], limits.except) === undefined
        ? [utf8Format(mimeType), ...(byType ?? [])]
        : byType;
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
        // Bodies without another format are passed on unchanged, and can be given again. For others, new bodies are made, which
        // the inner provider does not know, and so does not give again.
        again: inner.again,
        read(uri, want, ctx) {
          const { accept, range } = want;
          if (accept !== undefined) return readAccepted(reading, uri, want, accept, ctx);
          // Unless a format is requested, every window is of the original, so that windows fit together.
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

/** Reads the text of a resource that its provider finds too large. @throws the provider's error if there is no text format */
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
