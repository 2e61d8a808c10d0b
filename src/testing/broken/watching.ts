/** Providers that report changes wrongly. */
import { type Broken, featuring, isFolder, like, saying, telling } from './broken.ts';

export const BROKEN_WATCHES: readonly Broken[] = [
  {
    defect: 'tells another URI than the one that is watched',
    law: 'creation, change, replacement',
    says: /memory:\/\/\/elsewhere/,
    break: (inner) => telling(inner, () => ({ kind: 'updated', uri: 'memory:///elsewhere' })),
  },
  {
    defect: 'reports one change, and then no more',
    law: 'one watch reports one change after another',
    says: /removal: no event/,
    break(inner) {
      let reported = false;
      return telling(inner, (event) => {
        const first = !reported;
        reported = true;
        return first ? event : undefined;
      });
    },
  },
  {
    defect: 'reports no change of a container',
    law: 'a container is reported as updated',
    says: /a child that comes: no event/,
    break: (inner) => telling(inner, () => undefined),
  },
  {
    defect: 'reports no change of the list',
    law: 'a change of the list is reported',
    says: /a resource that comes: no event/,
    break: (inner) => telling(inner, (event) => (event.kind === 'list-changed' ? undefined : event)),
  },
  {
    defect: 'still reports changes after a watch was disposed of',
    law: 'a watch that was disposed of',
    says: /after the watch was disposed of/,
    break: (inner) =>
      like(inner, {
        async watch(uri, onChange, ctx) {
          await inner.watch?.(uri, onChange, ctx);
          return { [Symbol.asyncDispose]: async () => {} };
        },
      }),
  },
  {
    defect: 'tells the decoded URI',
    law: 'a resource with any name can be watched',
    says: /Expected values to be strictly deep-equal/,
    break: (inner) =>
      telling(inner, (event) => (event.kind === 'updated' ? { ...event, uri: decodeURI(event.uri) } : event)),
  },
  {
    defect: 'says that no resource can be subscribed to, although all can be',
    law: 'capabilities.subscribe is true exactly',
    says: /capabilities.subscribe of/,
    break: (inner) =>
      saying(inner, (entry) => ({ ...entry, capabilities: { list: isFolder(entry), subscribe: false } })),
  },
  {
    defect: 'says that it has no watch, and that resources can be subscribed to',
    law: 'creation, change, replacement',
    says: /says that it can be subscribed to/,
    break: (inner) => featuring(inner, { watch: false }),
  },
];
