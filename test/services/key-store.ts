/**
 * A store that accepts any text as a key, as AWS does. The stores that packages install do not. It implements only the part of
 * the protocol that reading needs. Everything else is tested with a real store.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';

export interface KeyStore extends AsyncDisposable {
  readonly endpoint: string;
  /** Texts by key, which a test may change. */
  readonly keys: Map<string, string>;
  /** The statuses with which keys are refused, which a test may change. */
  readonly refusals: Map<string, number>;
  /** The number of requests so far. */
  readonly requests: number;
}

export async function startKeyStore(keys: Map<string, string>): Promise<KeyStore> {
  const refusals = new Map<string, number>();
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const key = decodeURIComponent(path.split('/').slice(2).join('/'));
    if (key === '') {
      response.setHeader('content-type', 'application/xml').end(listing(keys, new URLSearchParams(query)));
      return;
    }
    const refusal = refusals.get(key);
    if (refusal !== undefined) {
      response.writeHead(refusal, { 'content-type': 'application/xml' });
      response.end(request.method === 'HEAD' ? '' : '<Error><Code>Refused</Code></Error>');
      return;
    }
    const text = keys.get(key);
    if (text === undefined) {
      response.writeHead(404, { 'content-type': 'application/xml' });
      response.end(request.method === 'HEAD' ? '' : '<Error><Code>NoSuchKey</Code></Error>');
      return;
    }
    const headers = {
      'content-length': Buffer.byteLength(text),
      etag: '"e"',
      'last-modified': 'Sun, 22 Nov 2026 08:00:00 GMT',
    };
    response.writeHead(200, headers).end(request.method === 'HEAD' ? '' : text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    keys,
    refusals,
    get requests() {
      return requests;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Lists as AWS does: in the order of bytes, with prefixes among the keys. */
function listing(keys: ReadonlyMap<string, string>, query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('start-after') ?? '';
  const limit = Number(query.get('max-keys') ?? 1_000);
  const folded = query.get('delimiter') === '/';
  const entries = new Map<string, string>();
  const inOrder = [...keys.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  let truncated = false;
  for (const key of inOrder) {
    if (!key.startsWith(prefix) || Buffer.compare(Buffer.from(key), Buffer.from(after)) <= 0) continue;
    const slash = folded ? key.indexOf('/', prefix.length) : -1;
    const entry = slash === -1 ? key : key.slice(0, slash + 1);
    const name = encodeURIComponent(entry).replaceAll('%20', '+').replaceAll('%2F', '/');
    const size = Buffer.byteLength(keys.get(key) ?? '');
    const content = `<Contents><Key>${name}</Key><Size>${size}</Size><ETag>&quot;e&quot;</ETag><LastModified>2026-11-22T08:00:00.000Z</LastModified></Contents>`;
    const isNew = !entries.has(`${slash === -1}${entry}`);
    if (isNew && entries.size === limit) {
      truncated = true;
      break;
    }
    if (isNew)
      entries.set(
        `${slash === -1}${entry}`,
        slash === -1 ? content : `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`,
      );
  }
  return `<?xml version="1.0"?><ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${truncated}</IsTruncated>${[...entries.values()].join('')}</ListBucketResult>`;
}
