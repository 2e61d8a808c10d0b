/** Makes a store with the AWS SDK, which is loaded when the first bucket is mounted. */
import type { Readable } from 'node:stream';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { invalid } from '../../core/errors.ts';
import { missingPackage } from '../../core/missing-package.ts';
import { limitAnswers } from './answer-limits.ts';
import { ATTEMPTS, type S3Options, TIMEOUT_SECONDS } from './config.ts';
import { isMissing } from './fault.ts';
import type { Content, KeyEntry, KeyPage, ObjectFacts, Store } from './store.ts';

const PACKAGE = '@aws-sdk/client-s3';

/** Milliseconds in which a connection has to be made. */
const CONNECT_MS = 5_000;

/** The most connections to the store at a time. */
const MAX_SOCKETS = 64;

/** The endpoint that requests go to, its region, and whether they name the bucket in the path. */
export interface Place {
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly pathStyle: boolean;
}

/** Combines the options and the environment. The options win. @throws ResourceError `invalid` */
export function placeOf({ endpoint, region, pathStyle, env = process.env }: S3Options): Place {
  const url = endpoint ?? nonEmpty(env.AWS_ENDPOINT_URL_S3) ?? nonEmpty(env.AWS_ENDPOINT_URL);
  if (url !== undefined) assertEndpoint(url);
  const givenRegion = region ?? nonEmpty(env.AWS_REGION) ?? nonEmpty(env.AWS_DEFAULT_REGION);
  return {
    endpoint: url,
    region: givenRegion ?? (url === undefined ? undefined : 'us-east-1'),
    pathStyle: pathStyle ?? url !== undefined,
  };
}

/** Refuses an endpoint with a user or a password, which would show up in messages. @throws ResourceError `invalid` */
function assertEndpoint(endpoint: string): void {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw invalid('The endpoint of a store is a URL such as https://s3.example.org, without a user or a password');
}

const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/** Makes the store of a bucket. @throws ResourceError `invalid` if the package, or half of the credentials, is missing */
export async function awsStore(bucket: string, place: Place, options: S3Options): Promise<Store> {
  const sdk = await load();
  const client = new sdk.S3Client(settings(place, options));
  limitAnswers(client);
  const Bucket = bucket;

  return {
    async list({ prefix, folded, after, limit }, abortSignal) {
      const answer = await client.send(
        new sdk.ListObjectsV2Command({
          Bucket,
          Prefix: prefix,
          MaxKeys: limit,
          // XML cannot contain most control characters.
          EncodingType: 'url',
          ...(folded && { Delimiter: '/' }),
          ...(after !== undefined && { StartAfter: after }),
        }),
        { abortSignal },
      );
      const decode = answer.EncodingType === 'url' ? decodeKey : (key: string): string => key;
      const entries: KeyEntry[] = [];
      for (const { Key, Size = 0, ETag, LastModified } of answer.Contents ?? []) {
        if (Key === undefined) continue;
        const key = decode(Key);
        entries.push({ kind: 'object', key, facts: factsOf(key, Size, ETag, LastModified) });
      }
      for (const { Prefix } of answer.CommonPrefixes ?? [])
        if (Prefix !== undefined) entries.push({ kind: 'prefix', key: decode(Prefix) });
      // A store may return keys without the prefix, which lie outside of the folder.
      const below = inOrder(entries.filter(({ key }) => key.startsWith(prefix)));
      // A store may return more keys than `MaxKeys`.
      const truncated = answer.IsTruncated === true || below.length > limit;
      return { entries: below.slice(0, limit), truncated } satisfies KeyPage;
    },

    async head(Key, abortSignal) {
      try {
        const answer = await client.send(new sdk.HeadObjectCommand({ Bucket, Key }), { abortSignal });
        return factsOf(Key, answer.ContentLength ?? 0, answer.ETag, answer.LastModified);
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },

    async get(Key, range, abortSignal) {
      const Range = range === undefined ? undefined : `bytes=${range.first}-${range.last ?? ''}`;
      try {
        const answer = await client.send(new sdk.GetObjectCommand({ Bucket, Key, ...(Range && { Range }) }), {
          abortSignal,
        });
        const body = answer.Body as Readable;
        // The connection may break when nobody listens any more.
        body.on('error', () => {});
        const total = /\/(\d+)$/.exec(answer.ContentRange ?? '')?.[1];
        const size = total === undefined ? (answer.ContentLength ?? 0) : Number(total);
        return {
          facts: factsOf(Key, size, answer.ETag, answer.LastModified),
          contentType: answer.ContentType,
          body,
        } satisfies Content;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },

    close: () => client.destroy(),
  };
}

async function load(): Promise<typeof import('@aws-sdk/client-s3')> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (cause) {
    throw missingPackage('To serve a bucket, install the client of S3', [PACKAGE], { cause });
  }
}

function settings(place: Place, options: S3Options): S3ClientConfig {
  const { anonymous, profile, accessKeyId, secretAccessKey, sessionToken } = options;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    throw invalid('accessKeyId and secretAccessKey go together');
  const milliseconds = (options.timeoutSeconds ?? TIMEOUT_SECONDS) * 1_000;
  return {
    ...(place.region !== undefined && { region: place.region }),
    ...(place.endpoint !== undefined && { endpoint: place.endpoint }),
    forcePathStyle: place.pathStyle,
    followRegionRedirects: true,
    maxAttempts: options.attempts ?? ATTEMPTS,
    // The answer to a window has no checksum, and some stores have none at all.
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: milliseconds,
      socketTimeout: milliseconds,
      throwOnRequestTimeout: true,
      httpAgent: { maxSockets: MAX_SOCKETS, keepAlive: true },
      httpsAgent: { maxSockets: MAX_SOCKETS, keepAlive: true },
    },
    ...(profile !== undefined && { profile }),
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && {
        credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
      }),
    ...(anonymous && {
      credentials: { accessKeyId: '', secretAccessKey: '' },
      signer: { sign: async (request) => request },
    }),
  };
}

/** Rounds times to the second: some stores list them to the millisecond, but an answer about one object has whole seconds. */
function factsOf(key: string, size: number, etag: string | undefined, lastModified: Date | undefined): ObjectFacts {
  const seconds = lastModified === undefined ? undefined : Math.floor(lastModified.getTime() / 1_000);
  return {
    key,
    size,
    etag: etag?.replace(/^"|"$/g, ''),
    lastModified: seconds === undefined || Number.isNaN(seconds) ? undefined : new Date(seconds * 1_000),
  };
}

/** Decodes a key as in a form: a plus is a space. */
const decodeKey = (key: string): string => decodeURIComponent(key.replaceAll('+', ' '));

/** Sorts objects and prefixes, which come in two lists, by the bytes of their keys. */
const inOrder = (entries: readonly KeyEntry[]): readonly KeyEntry[] =>
  entries
    .map((entry) => ({ entry, bytes: Buffer.from(entry.key, 'utf8') }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ entry }) => entry);
