/** A bucket as a mount of a configuration, and on the command line with the environment variables of AWS. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { vitrine } from '../cli/here.ts';
import { type S3Server, s3, startS3 } from '../services/s3.ts';
import { describeWith } from '../services/service.ts';
import { bytesOf, drain, failure, metadata, readOne } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { connect, DIAGONAL } from './harness.ts';
import { collectNotices, subscribe, subscribeToList } from './notices.ts';

const LARGE = Buffer.from(Array.from({ length: 500_000 }, (_, index) => (index * 31 + (index >> 8)) & 0xff));

describeWith([s3])('with a real store', () => {
  let store: S3Server;
  let bucket: string;
  let folder: Folder;
  beforeAll(async () => {
    store = await startS3();
    bucket = await store.newBucket();
    folder = await temporaryFolder();
    await store.put(bucket, 'outside.txt', 'outside');
    const objects: Readonly<Record<string, string | Buffer>> = {
      'readme.md': '# Reports',
      '2026/q1 (draft).txt': 'first quarter',
      '2026/data.bin': LARGE,
    };
    for (const [key, content] of Object.entries(objects)) await store.put(bucket, `reports/${key}`, content);
  });
  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await folder?.[Symbol.asyncDispose]();
  });

  const block = (): Record<string, unknown> => ({
    s3: `s3://${bucket}/reports`,
    endpoint: store.endpoint,
    region: store.region,
    accessKeyId: store.accessKeyId,
    secretAccessKey: store.secretAccessKey,
    watchSeconds: 0.05,
  });

  it.each(DIAGONAL)(
    '[RES-5] is listed, read, completed and watched over $transport, $era',
    async ({ transport, era }) => {
      const mounts = { reports: { ...block(), prefix: 'none' } };
      await using server = await connect(transport, era, [await writeConfig(folder, { mounts })]);
      const uris = async (uri?: string): Promise<readonly string[]> =>
        (await drain(server, 'resources/list', uri === undefined ? {} : { uri })).map((each) => each.uri);
      expect(await uris('s3:///')).toEqual(['s3:///2026/', 's3:///readme.md']);
      expect(await uris('s3:///2026')).toEqual(['s3:///2026/data.bin', 's3:///2026/q1%20(draft).txt']);
      expect(await uris()).toEqual(expect.arrayContaining(['s3:///readme.md', 's3:///2026/data.bin']));

      const readme = await metadata(server, 's3:///readme.md');
      expect(readme).toMatchObject({
        name: 'readme.md',
        mimeType: 'text/markdown',
        size: 9,
        annotations: { lastModified: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/) },
        capabilities: { list: false, subscribe: true },
        _meta: { 'vitrine/etag': expect.stringMatching(/^[0-9a-f]{32}$/) },
      });
      expect(await readOne(server, 's3:///readme.md')).toMatchObject({
        text: '# Reports',
        size: 9,
        _meta: { 'vitrine/version': expect.stringMatching(/^"[\w-]+"$/) },
      });
      expect(bytesOf(await readOne(server, 's3:///2026/data.bin')).equals(LARGE)).toBe(true);
      const window = await readOne(server, 's3:///2026/data.bin', { offset: 123_456, length: 1_000 });
      expect(bytesOf(window).equals(LARGE.subarray(123_456, 124_456))).toBe(true);
      for (const uri of ['s3:///gone', 's3:///readme.md/', 's3:///;x=2e2e/outside.txt', 's3:///../outside.txt'])
        expect(await failure(readOne(server, uri))).toMatchObject({ code: -32602, data: { uri } });

      const { completion } = await server.request<{ completion: { values: readonly string[] } }>(
        'completion/complete',
        {
          ref: { type: 'ref/resource', uri: 's3:///{+path}' },
          argument: { name: 'path', value: '2026/q' },
        },
      );
      expect(completion.values).toEqual(['2026/q1 (draft).txt']);

      const notices = await collectNotices(server);
      const subscription = await subscribe(server, ['s3:///readme.md', 's3:///2026/']);
      await store.put(bucket, 'reports/readme.md', '# Reports, anew');
      await notices.told('s3:///readme.md');
      expect((await readOne(server, 's3:///readme.md')).text).toBe('# Reports, anew');
      await store.put(bucket, 'reports/2026/new.txt', 'new');
      await notices.told('s3:///2026/');
      await subscription.end();
      let count = 0;
      const change = (): Promise<void> => store.put(bucket, `reports/more/${++count}.txt`, 'more');
      await subscribeToList(server, notices, change);
      await change();
      await notices.told('list_changed');

      await store.put(bucket, 'reports/readme.md', '# Reports');
      await store.remove(bucket, 'reports/2026/new.txt');
      for (let each = 1; each <= count; each++) await store.remove(bucket, `reports/more/${each}.txt`);
    },
  );

  const environment = (): Record<string, string> => ({
    AWS_ENDPOINT_URL: store.endpoint,
    AWS_REGION: store.region,
    AWS_ACCESS_KEY_ID: store.accessKeyId,
    AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
    AWS_EC2_METADATA_DISABLED: 'true',
    HOME: folder.path,
  });

  it('is checked from the command line, with the credentials of the environment', async () => {
    const { status, stdout } = await vitrine(['check', `s3://${bucket}/reports`], folder.path, environment());
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('reports') });
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['secret', { AWS_SECRET_ACCESS_KEY: 'another-secret-of-mine' }, /the credentials are refused/],
    ['user', { AWS_ACCESS_KEY_ID: 'somebody-else-entirely' }, /the credentials are refused/],
    ['region', { AWS_REGION: 'us-nowhere-7' }, /the region us-nowhere-7 is wrong .*expects eu-glass-1/],
    ['endpoint', { AWS_ENDPOINT_URL: 'http://127.0.0.1:9' }, /at http:\/\/127\.0\.0\.1:9: the store does not answer/],
    ['endpoint with a password', { AWS_ENDPOINT_URL: 'http://me:hunter22@127.0.0.1:9' }, /without a user/],
    ['credentials', { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }, /there are no credentials/],
  ])('reports a wrong or missing %s, and prints no secret', async (_, changed, message) => {
    const env = { ...environment(), ...changed };
    const { status, stderr } = await vitrine(['check', `s3://${bucket}`], folder.path, env);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(message) });
    for (const secret of [env.AWS_SECRET_ACCESS_KEY, env.AWS_ACCESS_KEY_ID, 'hunter22'])
      if (secret !== '') expect(stderr).not.toContain(secret);
  });

  it('reports a missing bucket, and takes credentials by reference', async () => {
    const config = await writeConfig(folder, {
      mounts: { b: { ...block(), s3: 's3://no-such-bucket', secretAccessKey: '$' + '{THE_SECRET}' } },
    });
    const env = { ...environment(), THE_SECRET: store.secretAccessKey };
    const { status, stderr } = await vitrine(['check', config], folder.path, env);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(/there is no such bucket/) });
    expect(stderr).not.toContain(store.secretAccessKey);
  });
});
