/** Helpers for providers with one defect each. They prove that each law finds a provider that breaks it. */
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
  /** Matches the message with which the law fails. */
  readonly says: RegExp;
  /** Puts the defect into a correct provider. */
  readonly break: (inner: ResourceProvider) => ResourceProvider;
}

/** A provider like `inner`, except for the overrides, which may also add methods. */
export const like = (inner: ResourceProvider, overrides: Partial<Operations>): ResourceProvider => ({
  ...wrapProvider(inner, overrides),
  ...overrides,
});

/** The same provider with other declared features. */
export const featuring = (inner: ResourceProvider, features: Partial<ProviderFeatures>): ResourceProvider =>
  like(inner, { features: { ...inner.features, ...features } });

/** The same provider, whose lists have changed entries. */
export const listing = (inner: ResourceProvider, change: (entries: readonly Resource[]) => readonly Resource[]) =>
  like(inner, {
    async list(uri, page, ctx) {
      const { resources, nextCursor } = await inner.list(uri, page, ctx);
      return { resources: change(resources), nextCursor };
    },
  });

/** The same provider, whose reads give changed bodies. */
export const reading = (inner: ResourceProvider, change: (body: ResourceBody, maxBytes: number) => ResourceBody) =>
  like(inner, {
    read: async (uri, want, ctx) => (await inner.read(uri, want, ctx)).map((body) => change(body, want.maxBytes)),
  });

/** The same provider, whose `list` and `metadata` both describe resources in another way. */
export const saying = (inner: ResourceProvider, change: (resource: Resource) => Resource) =>
  like(
    listing(inner, (entries) => entries.map(change)),
    {
      metadata: async (uri, ctx) => change(await inner.metadata(uri, ctx)),
    },
  );

/** The same provider, whose watches report changed events. An event that becomes undefined is not reported. */
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

/** The bytes of a body of the memory provider, which has them in memory. */
export const bytesIn = ({ content }: ResourceBody): Uint8Array =>
  content.kind === 'bytes' ? content.bytes : new Uint8Array();

/** Whether a resource is a container. */
export const isFolder = (resource: Resource): boolean => resource.capabilities?.list === true;
