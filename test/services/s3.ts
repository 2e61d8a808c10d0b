/** A private S3-compatible store for a test file: loopback only, with its own credentials and region, and temporary data. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { findProgram, onFreePort, privateFolder, removeFolder, startServer } from './programs.ts';
import type { Service } from './service.ts';

const PROGRAM = 'versitygw';
const USER = { accessKeyId: 'curator-of-glass', secretAccessKey: 'a glass case that nobody opens' } as const;
const REGION = 'eu-glass-1';

export const s3: Service = {
  name: 'Versity S3 Gateway',
  missing: () => (findProgram(PROGRAM) === undefined ? `there is no ${PROGRAM}` : undefined),
};

export interface S3Server extends AsyncDisposable {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Makes an empty bucket with a new name. Returns the name. */
  newBucket(): Promise<string>;
  put(bucket: string, key: string, content: string | Uint8Array, type?: string): Promise<void>;
  remove(bucket: string, key: string): Promise<void>;
}

/** Starts one without buckets. */
export async function startS3(): Promise<S3Server> {
  const program = findProgram(PROGRAM);
  if (program === undefined) throw new Error(`${s3.name}: there is no ${PROGRAM}`);
  const folder = await privateFolder('s3', undefined);
  const [data, notes] = [join(folder, 'data'), join(folder, 'notes')];
  try {
    await Promise.all([data, notes].map((each) => mkdir(each)));
    let at = 0;
    const running = await onFreePort((port) => {
      at = port;
      return startServer({
        account: undefined,
        // It reports on its standard output that it is ready.
        program: '/bin/sh',
        args: [
          ...['-c', 'exec "$0" "$@" >&2', program],
          ...['--port', `127.0.0.1:${port}`, '--region', REGION, '--keep-alive'],
          ...['--access', USER.accessKeyId, '--secret', USER.secretAccessKey],
          // Attributes of files are kept beside them, because not every file system supports attributes.
          ...['posix', '--sidecar', notes, data],
        ],
        ready: 'service listening on',
        end: 'SIGTERM',
      });
    });
    const endpoint = `http://127.0.0.1:${at}`;
    const config: S3ClientConfig = {
      endpoint,
      region: REGION,
      credentials: USER,
      forcePathStyle: true,
      maxAttempts: 8,
    };
    const client = new S3Client(config);
    let buckets = 0;
    return {
      endpoint,
      region: REGION,
      ...USER,
      async newBucket() {
        const Bucket = `museum-${++buckets}`;
        await client.send(new CreateBucketCommand({ Bucket }));
        return Bucket;
      },
      async put(Bucket, Key, Body, ContentType) {
        await client.send(new PutObjectCommand({ Bucket, Key, Body, ...(ContentType && { ContentType }) }));
      },
      async remove(Bucket, Key) {
        await client.send(new DeleteObjectCommand({ Bucket, Key }));
      },
      [Symbol.asyncDispose]: async () => {
        client.destroy();
        await running.stop();
        await removeFolder(folder);
      },
    };
  } catch (error) {
    await removeFolder(folder);
    throw error;
  }
}
