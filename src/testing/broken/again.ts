/** Providers whose `again`, `listAgain` or content versions are wrong. */
import { markRepeatable } from '../../core/again.ts';
import type { ResourceBody } from '../../core/body.ts';
import { versioned } from '../../core/content-version.ts';
import type { ResourcePage } from '../../core/provider.ts';
import { type Broken, like } from './broken.ts';

type Bodies = readonly ResourceBody[];

export const BROKEN_AGAIN: readonly Broken[] = [
  {
    defect: 'gives all contents the same version',
    law: 'a version is of one content',
    says: /The contents of version "same"/,
    break: (inner) =>
      like(inner, {
        async read(uri, want, ctx) {
          const bodies = await inner.read(uri, want, ctx);
          for (const { content } of bodies) versioned(content, '"same"');
          return bodies;
        },
      }),
  },
  {
    defect: 'reads something new each time, and says that a read would give the same',
    law: '`again` says yes only where a fresh read',
    says: /The fresh read of/,
    break(inner) {
      const origins = new WeakMap<Bodies, Bodies>();
      let count = 0;
      return like(inner, {
        async read(uri, want, ctx) {
          const bodies = await inner.read(uri, want, ctx);
          const title = `read ${++count} times`;
          const titled = bodies.map((body) => ({ ...body, resource: { ...body.resource, title } }));
          origins.set(titled, bodies);
          return markRepeatable(titled);
        },
        again: (bodies, uri, want, ctx) => inner.again?.(origins.get(bodies) ?? [], uri, want, ctx) === true,
      });
    },
  },
  {
    defect: 'says yes to `again` for bodies that it has not marked as repeatable',
    law: '`again` says yes only where a fresh read',
    says: /not marked as repeatable/,
    break: (inner) =>
      like(inner, {
        read: async (uri, want, ctx) => [...(await inner.read(uri, want, ctx))],
        again: () => true,
      }),
  },
  {
    defect: 'does not check in `again` whether a leaf has changed',
    law: '`again` says no once',
    says: /says yes after the leaf was replaced/,
    break(inner) {
      const given = new WeakMap<Bodies, string>();
      return like(inner, {
        async read(uri, want, ctx) {
          const bodies = await inner.read(uri, want, ctx);
          given.set(bodies, uri);
          return bodies;
        },
        again: (bodies, uri) => given.get(bodies) === uri,
      });
    },
  },
  {
    defect: 'says yes to each `again`',
    law: '`again` says no to bodies that it has not given',
    says: /`again` says yes for/,
    break: (inner) => like(inner, { again: () => true }),
  },
  {
    defect: 'throws in `again` for bodies that it does not know',
    law: '`again` says no to bodies that it has not given',
    says: /never heard of it/,
    break: (inner) =>
      like(inner, {
        again() {
          throw new Error('never heard of it');
        },
      }),
  },
  {
    defect: 'lists something new each time, and says that a list would give the same',
    law: '`listAgain` says yes only where a fresh list',
    says: /The fresh list of/,
    break(inner) {
      const given = new WeakSet<ResourcePage>();
      let count = 0;
      return like(inner, {
        async list(uri, page, ctx) {
          const title = `listed ${++count} times`;
          const { resources, ...rest } = await inner.list(uri, page, ctx);
          const listed = markRepeatable({ ...rest, resources: resources.map((each) => ({ ...each, title })) });
          given.add(listed);
          return listed;
        },
        listAgain: (page) => given.has(page),
      });
    },
  },
  {
    defect: 'says yes to `listAgain` for a page that it has not marked as repeatable',
    law: '`listAgain` says yes only where a fresh list',
    says: /not marked as repeatable/,
    break: (inner) =>
      like(inner, { list: async (...args) => ({ ...(await inner.list(...args)) }), listAgain: () => true }),
  },
  {
    defect: 'does not check in `listAgain` whether a list has changed',
    law: '`listAgain` says no once',
    says: /an entry was added/,
    break(inner) {
      const given = new WeakMap<ResourcePage, string | undefined>();
      return like(inner, {
        async list(uri, page, ctx) {
          const listed = await inner.list(uri, page, ctx);
          given.set(listed, uri);
          return listed;
        },
        listAgain: (page, uri) => given.has(page) && given.get(page) === uri,
      });
    },
  },
  {
    defect: 'says yes to each `listAgain`',
    law: '`listAgain` says no to pages that it has not given',
    says: /`listAgain` says yes for/,
    break: (inner) => like(inner, { listAgain: () => true }),
  },
  {
    defect: 'throws in `listAgain` for a page that it does not know',
    law: '`listAgain` says no to pages that it has not given',
    says: /never heard of it/,
    break: (inner) =>
      like(inner, {
        listAgain() {
          throw new Error('never heard of it');
        },
      }),
  },
];
