/** Providers that take one URI for another. */
import { invalid } from '../../core/errors.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { type Broken, like, saying } from './broken.ts';

/** The inner provider, which takes each URI for the one that `reread` returns. */
const misreading = (inner: ResourceProvider, reread: (uri: string) => string): ResourceProvider =>
  like(inner, {
    list: (uri, page, ctx) => inner.list(uri === undefined ? undefined : reread(uri), page, ctx),
    metadata: (uri, ctx) => inner.metadata(reread(uri), ctx),
    read: (uri, want, ctx) => inner.read(reread(uri), want, ctx),
  });

export const BROKEN_NAMES: readonly Broken[] = [
  {
    defect: 'writes names into URIs as they are',
    law: 'every URI is valid by RFC 3986',
    says: /did not match/,
    break: (inner) => saying(inner, (entry) => ({ ...entry, uri: entry.uri.replaceAll('%20', ' ') })),
  },
  {
    defect: 'decodes twice',
    law: 'every listed URI is described',
    says: /uri|not found|dot segment|slash/i,
    break: (inner) => misreading(inner, (uri) => uri.replaceAll('%25', '%')),
  },
  {
    defect: 'takes a name for what it decodes to',
    law: 'an escape is decoded once',
    says: /was not refused/,
    break: (inner) =>
      like(inner, {
        async metadata(uri, ctx) {
          const root = await inner.metadata('memory:///', ctx);
          return await inner.metadata(uri, ctx).catch(() => root);
        },
      }),
  },
  {
    defect: 'takes the two normal forms of a name for one',
    law: 'every listed URI is described',
    says: /caf%C3%A9/,
    break: (inner) => misreading(inner, (uri) => uri.replaceAll('e%CC%81', '%C3%A9')),
  },
  {
    defect: 'does not know a container by a slash at its end',
    law: 'a slash at the end is accepted',
    says: /no slash/,
    break: (inner) =>
      misreading(inner, (uri) => {
        if (/[^/]\/$/.test(uri)) throw invalid('no slash, please');
        return uri;
      }),
  },
  {
    defect: 'cuts a slash off the end of anything',
    law: 'a slash at the end of a leaf',
    says: /was not refused|not-listable/,
    break: (inner) => misreading(inner, (uri) => uri.replace(/(?<=[^/])\/$/, '')),
  },
];
