/** Providers whose `list` or `metadata` is wrong. */
import type { ResourceError } from '../../core/errors.ts';
import type { Resource } from '../../protocol/resources.ts';
import { listAll } from '../observe.ts';
import { type Broken, isFolder, like, listing, saying } from './broken.ts';

export const BROKEN_LISTS: readonly Broken[] = [
  {
    defect: 'lists grandchildren too',
    law: 'a list has the direct children',
    says: /Children of/,
    break: (inner) =>
      like(inner, {
        async list(uri, page, ctx) {
          const { resources, nextCursor } = await inner.list(uri, page, ctx);
          const folder = uri === undefined ? undefined : resources.find(isFolder);
          const more = folder === undefined ? [] : (await inner.list(folder.uri, page, ctx)).resources;
          return { resources: [...resources, ...more].slice(0, page.limit), nextCursor };
        },
      }),
  },
  {
    defect: 'gives the last entry of a page again on the next',
    law: 'pages of any size',
    says: /Pages of/,
    break(inner) {
      const last = new Map<string, Resource>();
      return like(inner, {
        async list(uri, page, ctx) {
          const { resources, nextCursor } = await inner.list(uri, page, ctx);
          const again = page.cursor === undefined ? undefined : last.get(page.cursor);
          const entry = resources.at(-1);
          if (nextCursor !== undefined && entry !== undefined) last.set(nextCursor, entry);
          return { resources: again === undefined ? resources : [again, ...resources.slice(1)], nextCursor };
        },
      });
    },
  },
  {
    defect: 'gives more entries than were asked for',
    law: 'pages of any size',
    says: /A page of 1 had/,
    break: (inner) => like(inner, { list: (uri, page, ctx) => inner.list(uri, { ...page, limit: 100 }, ctx) }),
  },
  {
    defect: 'has cursors that lead in a circle',
    law: 'pages of any size',
    says: /did not end/,
    break: (inner) =>
      like(inner, {
        list: async (uri, page, ctx) => ({
          ...(await inner.list(uri, { limit: page.limit }, ctx)),
          nextCursor: 'again',
        }),
      }),
  },
  {
    defect: 'has cursors that count entries',
    law: 'entries that come and go',
    says: /lost or reordered|repeated an entry/,
    break: (inner) =>
      like(inner, {
        async list(uri, page) {
          const all = await listAll(inner, uri);
          const start = Number(page.cursor ?? 0);
          const end = start + page.limit;
          return { resources: all.slice(start, end), nextCursor: end < all.length ? String(end) : undefined };
        },
      }),
  },
  {
    defect: 'describes more of a resource in a list than in `metadata`',
    law: 'a list describes each entry',
    says: /title/,
    break: (inner) => listing(inner, (entries) => entries.map((entry) => ({ ...entry, title: entry.name }))),
  },
  {
    defect: 'leaves capabilities out',
    law: 'every resource carries capabilities',
    says: /capabilities.list of/,
    break: (inner) => saying(inner, ({ capabilities: _, ...rest }) => rest),
  },
  {
    defect: 'says that everything can be listed',
    law: 'every resource carries capabilities',
    says: /capabilities.list of/,
    break: (inner) => saying(inner, (entry) => ({ ...entry, capabilities: { list: true, subscribe: true } })),
  },
  {
    defect: 'says that a container is text',
    law: 'a container has the type inode/directory',
    says: /A container is text\/plain/,
    break: (inner) => saying(inner, (entry) => ({ ...entry, mimeType: 'text/plain' })),
  },
  {
    defect: 'lists a leaf as an empty container',
    law: 'listing a leaf',
    says: /Listing a leaf was not refused/,
    break: (inner) =>
      like(inner, {
        list: (uri, page, ctx) =>
          inner.list(uri, page, ctx).catch((error: ResourceError) => {
            if (error.code === 'not-listable') return { resources: [] };
            throw error;
          }),
      }),
  },
  {
    defect: 'reads a missing resource as an empty list of contents',
    law: 'list, metadata and read refuse',
    says: /read of .* was not refused/,
    break: (inner) => like(inner, { read: (uri, want, ctx) => inner.read(uri, want, ctx).catch(() => []) }),
  },
  {
    defect: 'refuses a missing resource with a plain Error',
    law: 'list, metadata and read refuse',
    says: /something else than a ResourceError/,
    break: (inner) =>
      like(inner, {
        metadata: (uri, ctx) => inner.metadata(uri, ctx).catch(() => Promise.reject(new Error('ENOENT'))),
      }),
  },
  {
    defect: 'takes a cursor of another list for a place in this one',
    law: 'a cursor that is not its own',
    says: /^The cursor "[^"]*" led to x:other, which is not in a list without a cursor/,
    break: (inner) =>
      like(inner, {
        async list(uri, page, ctx) {
          if (page.cursor === undefined) return inner.list(uri, page, ctx);
          return { resources: [{ uri: 'x:other', name: 'other' }] };
        },
      }),
  },
  {
    defect: 'parses cursors without checking them',
    law: 'a cursor that is not its own',
    says: /something else than a ResourceError/,
    break: (inner) =>
      like(inner, {
        async list(uri, page, ctx) {
          if (page.cursor !== undefined) JSON.parse(page.cursor);
          return inner.list(uri, { limit: page.limit }, ctx);
        },
      }),
  },
  {
    defect: 'lists for a caller that has gone',
    law: 'an aborted signal stops a list',
    says: /An aborted list gave a page/,
    break: (inner) =>
      like(inner, {
        list: (uri, page, ctx) => inner.list(uri, page, { ...ctx, signal: new AbortController().signal }),
      }),
  },
  {
    defect: 'gives incomplete metadata to a caller that has gone',
    law: 'an aborted `metadata`',
    says: /Expected values to be strictly deep-equal/,
    break: (inner) =>
      like(inner, {
        metadata: async (uri, ctx) => ({
          ...(await inner.metadata(uri, ctx)),
          ...(ctx.signal.aborted && { name: '' }),
        }),
      }),
  },
];
