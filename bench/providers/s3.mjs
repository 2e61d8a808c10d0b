/** Compares the S3 provider with `@aws-sdk/client-s3`, over a bucket in a store on this machine. */
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { answered, missingProgram, startStore } from '../lib/services.mjs';
import { asking, ENTRIES, nameOf, names, TEXT } from '../lib/turns.mjs';

export const client = '@aws-sdk/client-s3';

export const missing = () => missingProgram(['versitygw']);

/** @param {import('../lib/turns.mjs').Load} load */
export async function open(load) {
  const { stop, endpoint, region, ...credentials } = await startStore();
  const s3 = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  const Bucket = 'bench';
  await answered(() => s3.send(new CreateBucketCommand({ Bucket })));
  const put = (Key) => s3.send(new PutObjectCommand({ Bucket, Key, Body: TEXT, ContentType: 'text/plain' }));
  // The bucket has more objects than one page shows.
  for (const name of names()) await Promise.all([put(name), put(`more-${name}`)]);
  const { page, bytes } = await asking(load);
  const { s3Provider } = await load('providers/s3.js');
  const provider = await s3Provider({ s3: `s3://${Bucket}`, endpoint, region, ...credentials });
  return {
    turns: {
      list: {
        ours: () => page(provider, 's3:///'),
        async native() {
          const question = new ListObjectsV2Command({ Bucket, Delimiter: '/', MaxKeys: ENTRIES });
          return (await s3.send(question)).Contents?.length ?? 0;
        },
      },
      read: {
        ours: (index) => bytes(provider, `s3:///${nameOf(index)}`),
        async native(index) {
          const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: nameOf(index) }));
          return (await Body?.transformToByteArray())?.byteLength ?? 0;
        },
      },
    },
    async close() {
      await provider.close();
      s3.destroy();
      await stop();
    },
  };
}
