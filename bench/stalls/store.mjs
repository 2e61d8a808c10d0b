/** Lists of an object store. */
import { filled, numbered } from './hostile.mjs';

const MIB = 1024 * 1024;
const DATE = '2026-11-22T08:00:00.000Z';
const entry = (key) =>
  `<Contents><Key>${key}</Key><Size>1</Size><ETag>&quot;e&quot;</ETag><LastModified>${DATE}</LastModified></Contents>`;
const list = (inside, more = false) =>
  `<?xml version="1.0"?><ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${more}</IsTruncated>${inside}</ListBucketResult>`;
const entries = (count, key = (at) => `key-${String(at).padStart(8, '0')}`) =>
  Array.from({ length: count }, (_, at) => entry(key(at))).join('');

const LISTS = () => ({
  'small, for comparison': list(entries(100)),
  'more than was asked for': list(entries(1_000)),
  'much more than was asked for': list(entries(200_000)),
  'long keys': list(entries(100, (at) => `${at}${'%41'.repeat(1_000)}`)),
  'keys of a megabyte': list(entries(3, (at) => `${at}${'k'.repeat(MIB)}`)),
  'small elements': list(filled(3 * MIB, '<a/>')),
  'deep nesting': list(`${'<a>'.repeat(60_000)}${'</a>'.repeat(60_000)}`),
  'never closed': list(filled(MIB, '<a>')),
  'many attributes': list(`<a ${numbered(MIB, (at) => `a${at}="1" `)}/>`),
  entities: list(entry(filled(MIB, '&amp;'))),
  'defined entities': `<!DOCTYPE a [${numbered(MIB, (at) => `<!ENTITY a${at} "aaaaaaa">`)}]>${list(entry(filled(100_000, '&a1;')))}`,
  'cut off': list(entries(100)).slice(0, -200),
  'no XML': filled(MIB, 'no XML'),
  'an error without end': `<Error><Code>AccessDenied</Code><Message>${'x'.repeat(20 * MIB)}</Message></Error>`,
});

/** @param {import('./hostile.mjs').Hostile} hostile */
export function storeCases({ origin, on }) {
  return Object.entries(LISTS()).map(([name, body]) => {
    let opened = false;
    return {
      name: `S3 list: ${name}`,
      bytes: Buffer.byteLength(body),
      env: { AWS_EC2_METADATA_DISABLED: 'true' },
      mounts: {
        store: {
          s3: 's3://bucket',
          endpoint: origin,
          accessKeyId: 'a',
          secretAccessKey: 'b',
          attempts: 1,
          prefix: 'none',
        },
      },
      open() {
        opened = false;
        on('/bucket', (_request, response) => {
          // The first list is the one with which a mount begins.
          const text = opened ? body : list(entries(1));
          opened = true;
          response.writeHead(text.startsWith('<Error') ? 403 : 200, { 'content-type': 'application/xml' }).end(text);
        });
      },
      ask: [
        ['resources/list', { uri: 's3:///' }],
        ['resources/read', { uri: 's3:///' }],
      ],
    };
  });
}
