/**
 * Serves a bucket of any S3-compatible store, or a folder in one: `s3:///2026/report.pdf` is the key `2026/report.pdf` below
 * the mounted folder. Lists by prefix, reads in windows, watches by polling, and completes keys. Never writes. The client is
 * `@aws-sdk/client-s3`, an optional peer dependency.
 *
 * @example
 * const reports = await s3Provider({ s3: 's3://museum/reports', region: 'eu-central-1' });
 */
import { ResourceError } from '../../core/errors.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { createPolling } from '../polling.ts';
import { type Bucket, find, resourceOf } from './bucket.ts';
import { awsStore, type Place, placeOf } from './client.ts';
import { MAX_WATCHED_KEYS, type S3Options, TIMEOUT_SECONDS, WATCH_SECONDS } from './config.ts';
import { problemOf } from './fault.ts';
import { listBucket } from './list.ts';
import { type Location, lastPart, parseKeyUri, parseLocation, SCHEME } from './names.ts';
import { readBucket } from './read.ts';
import type { Store } from './store.ts';
import { completeKey, listTemplates } from './templates.ts';
import { lookAt, lookAtAll } from './watch.ts';

export { type S3Config, type S3Options, s3Config } from './config.ts';
export { type Location, parseLocation } from './names.ts';

/** The most looks at watched resources that run at a time. */
const CONCURRENT_LOOKS = 8;

/**
 * Makes a provider of a bucket. Lists the bucket once, to check that this is allowed.
 * @throws ResourceError `invalid`: its message tells the person who starts the server what is wrong with the bucket, the
 *   endpoint, the region or the credentials, and contains no secret
 */
export async function s3Provider(options: S3Options): Promise<ResourceProvider> {
  const location = parseLocation(options.s3);
  const place = placeOf(options);
  const store = await awsStore(location.bucket, place, options);
  await assertListable(store, location, place, options);
  const bucket: Bucket = { store, prefix: location.prefix, name: options.name ?? nameOfLocation(location) };
  const maxKeys = options.maxWatchedKeys ?? MAX_WATCHED_KEYS;
  const polling = createPolling(
    (uri, ctx) => (uri === undefined ? lookAtAll(bucket, maxKeys, ctx) : lookAt(bucket, uri, maxKeys, ctx)),
    CONCURRENT_LOOKS,
  );

  return {
    name: bucket.name,
    features: {
      schemes: [SCHEME],
      watch: true,
      templates: true,
      completion: true,
      search: false,
      ranges: true,
      remote: true,
    },
    list: (uri, page, ctx) => listBucket(bucket, uri, page, ctx),
    metadata: async (uri, ctx) => resourceOf(bucket, await find(bucket, uri, ctx)),
    read: (uri, want, ctx) => readBucket(bucket, uri, want, ctx),
    listTemplates: async () => listTemplates(bucket),
    complete: (request, ctx) => completeKey(bucket, request, ctx),
    async watch(uri, onChange, ctx) {
      if (uri !== undefined) parseKeyUri(uri);
      return await polling.watch(uri, (options.watchSeconds ?? WATCH_SECONDS) * 1_000, onChange, ctx);
    },
    // Lets one replica watch for all. The provider keeps nothing, so a reported change makes nothing out of date.
    heard: () => {},
    async close() {
      await polling.close();
      store.close();
    },
  } satisfies ResourceProvider;
}

/** Returns the name of the folder or, without a folder, of the bucket. */
export const nameOfLocation = ({ bucket, prefix }: Location): string => lastPart(prefix.slice(0, -1)) || bucket;

async function assertListable(
  store: Store,
  { bucket, prefix }: Location,
  place: Place,
  options: S3Options,
): Promise<void> {
  const signal = AbortSignal.timeout((options.timeoutSeconds ?? TIMEOUT_SECONDS) * 1_000);
  try {
    await store.list({ prefix, folded: true, limit: 1 }, signal);
  } catch (error) {
    store.close();
    const reason = signal.aborted ? { name: 'TimeoutError' } : error;
    throw new ResourceError('invalid', problemOf(reason, { bucket, ...place }));
  }
}
