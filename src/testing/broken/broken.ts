/** Providers with one thing wrong each: a law that none of them breaks would prove nothing. */
import type { ResourceBody } from '../../core/body.ts';
import { wrapProvider } from '../../core/layer.ts';
import type { Operations } from '../../core/operations.ts';
import type { ChangeEvent, ProviderFeatures, ResourceProvider } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';

export interface Broken {
  /** The defect of the provider, in words. */
  readonly defect: string;
  /** The beginning of the name of the law that it breaks. */
  readonly law: string;
  /** How that shows in the law's complaint. */
  readonly says: RegExp;
  readonly break: (inner: ResourceProvider) => ResourceProvider;
}

/** A provider like `inner` but for the overrides, which may also invent a method. */
export const like = (inner: ResourceProvider, overrides: Partial<Operations>): ResourceProvider => ({
  ...wrapProvider(inner, overrides),
  ...overrides,
});

/** The same provider with other features declared. */
export const featuring = (inner: ResourceProvider, features: Partial<ProviderFeatures>): ResourceProvider =>
  like(inner, { features: { ...inner.features, ...features } });

/** Lists with its entries changed. */
export const listing = (inner: ResourceProvider, change: (entries: readonly Resource[]) => readonly Resource[]) =>
  like(inner, {
    async list(uri, page, ctx) {
      const { resources, nextCursor } = await inner.list(uri, page, ctx);
      return { resources: change(resources), nextCursor };
    },
  });

/** Reads with its bodies changed. */
export const reading = (inner: ResourceProvider, change: (body: ResourceBody, maxBytes: number) => ResourceBody) =>
  like(inner, {
    read: async (uri, want, ctx) => (await inner.read(uri, want, ctx)).map((body) => change(body, want.maxBytes)),
  });

/** Both `list` and `metadata` with what they say changed. */
export const saying = (inner: ResourceProvider, change: (resource: Resource) => Resource) =>
  like(
    listing(inner, (entries) => entries.map(change)),
    {
      metadata: async (uri, ctx) => change(await inner.metadata(uri, ctx)),
    },
  );

/** Watches with the events changed; what becomes undefined is not told. */
export const telling = (inner: ResourceProvider, change: (event: ChangeEvent) => ChangeEvent | undefined) =>
  like(inner, {
    watch: async (uri, onChange, ctx) => {
      const tell = (event: ChangeEvent): void => {
        const changed = change(event);
        if (changed !== undefined) onChange(changed);
      };
      return (await inner.watch?.(uri, tell, ctx)) ?? { [Symbol.asyncDispose]: async () => {} };
    },
  });

/** The same provider with another `complete`. */
export const completing = (inner: ResourceProvider, complete: NonNullable<ResourceProvider['complete']>) =>
  like(inner, { complete });

/** The bytes of a body of the memory provider. */
export const bytesIn = ({ content }: ResourceBody): Uint8Array =>
  content.kind === 'bytes' ? content.bytes : new Uint8Array();

/** Whether this is a container. */
export const isFolder = (resource: Resource): boolean => resource.capabilities?.list === true;
