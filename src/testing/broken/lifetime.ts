/** Providers with wrong features, schemes, searches or ends. */
import { type Broken, featuring, like } from './broken.ts';

export const BROKEN_LIFETIMES: readonly Broken[] = [
  {
    defect: 'says that it can search, and has no method for it',
    law: 'a feature that is declared',
    says: /A declared feature has no method/,
    break: (inner) => featuring(inner, { search: true }),
  },
  {
    defect: 'has a scheme in upper case',
    law: 'it has a name',
    says: /did not match/,
    break: (inner) => featuring(inner, { schemes: ['Memory'] }),
  },
  {
    defect: 'searches and finds nothing',
    law: 'a search for the first line',
    says: /was not found/,
    break: (inner) => like(featuring(inner, { search: true }), { async *search() {} }),
  },
  {
    defect: 'says that it cannot search, and has the method',
    law: 'a search for the first line',
    says: /has `search`/,
    break: (inner) => like(inner, { async *search() {} }),
  },
  {
    defect: 'fails when it is closed twice',
    law: '`close` may be called twice',
    says: /closed already/,
    break(inner) {
      let closed = false;
      return like(inner, {
        async close() {
          if (closed) throw new Error('closed already');
          closed = true;
        },
      });
    },
  },
];
