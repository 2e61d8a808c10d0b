import { afterAll, beforeAll } from 'vitest';
import { type S3Server, s3, startS3 } from '../../../test/services/s3.ts';
import { describeWith } from '../../../test/services/service.ts';
import { containersOf, type Leaves, type ProviderFixture } from '../../testing/fixture.ts';
import { providerContract } from '../../testing/provider-contract.ts';
import { standardSeed } from '../../testing/seed.ts';
import { s3Provider } from './index.ts';
import { uriOfKey, uriOfPrefix } from './names.ts';

/** The prefix of the root in the bucket. The keys beside it must not be shown. */
const FOLDER = 'a root #1 (é)/100%/';

describeWith([s3])('with a real store', () => {
  let server: S3Server;
  let bucket: string;
  beforeAll(async () => {
    server = await startS3();
    bucket = await server.newBucket();
    await server.put(bucket, 'a root #1 (é)/100%!', 'outside');
    await Promise.all([...standardSeed()].map(([path, bytes]) => server.put(bucket, FOLDER + path, bytes)));
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  providerContract('s3', (seed) => fixture(server, bucket, seed));
});

/** The bucket with the seed. Closing the fixture undoes the changes of a test. */
async function fixture(server: S3Server, bucket: string, seed: Leaves): Promise<ProviderFixture> {
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  const provider = await s3Provider({
    s3: `s3://${bucket}/${FOLDER}`,
    name: 'contract',
    ...{ endpoint, region, accessKeyId, secretAccessKey },
    watchSeconds: 0.02,
  });
  const changed = new Set<string>();
  const put = (path: string, content: string | Uint8Array): Promise<void> => {
    changed.add(path);
    return server.put(bucket, FOLDER + path, content);
  };
  const remove = (path: string): Promise<void> => {
    changed.add(path);
    return server.remove(bucket, FOLDER + path);
  };
  const made: ProviderFixture = {
    provider,
    leaves: seed,
    uriOf: (path) => (containers.has(path) ? uriOfPrefix(path === '' ? '' : `${path}/`) : uriOfKey(path)),
    hierarchical: true,
    mutate: { create: put, replace: put, remove },
    async close() {
      await provider.close?.();
      for (const path of [...changed]) {
        const bytes = seed.get(path);
        await (bytes === undefined ? remove(path) : put(path, bytes));
      }
    },
  };
  const containers = new Set(['', ...containersOf(made)]);
  return made;
}
