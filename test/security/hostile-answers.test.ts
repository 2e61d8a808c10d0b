/**
 * Documents that take long to parse, for every source that parses. Other requests are answered meanwhile, and each document ends with
 * its content or with an error that gives the reason. Faults that these tests found had blocked the server for 20 seconds and more.
 */
import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { DIAGONAL } from '../e2e/harness.ts';
import { processorMs } from '../e2e/process-io.ts';
import { type ConnectedProgram, connectToProgram } from '../e2e/programs.ts';
import { slowness } from '../e2e/waiting.ts';
import { content, type Site, startSite } from '../providers/http/site.ts';

/** How long a document may block other requests: far less than with the faults that were found, however busy the machine is. */
const MAX_WORK_MS = 3_000;

/** The pause between two reads: a small part of that time. */
const BETWEEN_READS_MS = 25;

const numbered = (count: number, make: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => make(at)).join('');
const api = (paths: object, more: object = {}): string =>
  JSON.stringify({ openapi: '3.1.0', servers: [{ url: '/' }], paths, ...more });
const record = (count: number, make: (at: number) => readonly [string, unknown]): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => make(at)));
const YAML = 'openapi: 3.1.0\nservers: [{url: /}]\npaths: {/known: {get: {}}}\n';

const large = (names: number): object => ({
  type: 'string',
  enum: Array.from({ length: names }, (_, at) => `value-${at}`),
  properties: record(names, (at) => [`property-${at}`, { type: 'string' }]),
});
const sharing = (where: 'path' | 'query', names: number): string => {
  const parameter = {
    name: 'id',
    in: where,
    required: where === 'path',
    schema: { $ref: '#/components/schemas/Large' },
  };
  const path = where === 'path' ? '/{id}' : '';
  return api(
    { '/known': { get: {} }, ...record(2_000, (at) => [`/p${at}${path}`, { get: { parameters: [parameter] } }]) },
    { components: { schemas: { Large: large(names) } } },
  );
};

/** Documents of an API, each with the outcome of a read of a page that it does not have. */
const DOCUMENTS: Readonly<Record<string, readonly [text: string, reason: string]>> = {
  'operations that share a large schema in their path': [sharing('path', 20_000), 'not-found'],
  'operations that share a large schema in their query': [sharing('query', 20_000), 'not-found'],
  'operations that share a path item': [
    api(
      { '/known': { get: {} }, ...record(2_000, (at) => [`/p${at}`, { $ref: '#/components/pathItems/P' }]) },
      {
        components: {
          pathItems: {
            P: {
              get: {},
              parameters: Array.from({ length: 5_000 }, (_, at) => ({ name: `q${at}`, in: 'query', schema: {} })),
            },
          },
        },
      },
    ),
    'not-found',
  ],
  'many keys': [YAML + numbered(60_000, (at) => `k${at}: 1\n`), 'not-found'],
  'many keys in braces': [`${YAML}x: {${numbered(60_000, (at) => `k${at}: 1,`)}}\n`, 'not-found'],
  'one key again and again': [YAML + 'k: 1\n'.repeat(60_000), 'not-found'],
  'aliases of aliases': [
    `${YAML}a: &a0 [x,x]\n${numbered(40, (at) => `b${at}: &a${at + 1} [${`*a${at},`.repeat(40)}]\n`)}${'# fill\n'.repeat(1_000)}`,
    'unavailable',
  ],
  'aliases of many anchors': [
    `${YAML}${numbered(5_000, (at) => `a${at}: &a${at} 1\n`)}b: [${numbered(60_000, (at) => `*a${at % 5_000},`)}]\n`,
    'unavailable',
  ],
  'levels without end': [`${YAML}x: ${'['.repeat(300_000)}`, 'unavailable'],
};

const rss = (inside: string): string => `<rss version="2.0"><channel><title>x</title>${inside}</channel></rss>`;
const FEEDS: Readonly<Record<string, readonly [text: string, reason: string]>> = {
  'many attributes': [rss(`<item ${numbered(120_000, (at) => `a${at}="1" `)}/>`), 'fine'],
  'empty items': [rss('<item/>'.repeat(290_000)), 'fine'],
  'levels without end': [rss('<a>'.repeat(600_000)), 'unavailable'],
};

const KEY = '<Contents><Key>KEY</Key><Size>1</Size><ETag>e</ETag></Contents>';
const listing = (inside: string): string =>
  `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${inside}</ListBucketResult>`;
const LISTS: Readonly<Record<string, string>> = {
  'more keys than were asked for': listing(numbered(200_000, (at) => KEY.replace('KEY', `k${at}`))),
  'elements that nobody knows': listing('<a/>'.repeat(1_000_000)),
  'a key of many megabytes': listing(KEY.replace('KEY', 'k'.repeat(20_000_000))),
  attributes: listing(`<a ${numbered(100_000, (at) => `a${at}='1' `)}/>`),
};

/** On a busy machine, the time for a document that cannot be read may be over before its problem is found. */
const outcomesOf = (reason: string): readonly string[] =>
  reason === 'unavailable' && slowness() > 1 ? [reason, 'timeout'] : [reason];

const slug = (name: string): string => name.replaceAll(' ', '-');

let site: Site;
let folder: Folder;
let config: string;
const commits: Record<string, string> = {};

beforeAll(async () => {
  site = await startSite();
  folder = await temporaryFolder({
    'files/small.txt': 'small',
    'prompts/fine.md': 'Fine.',
    'prompts/keys.md': `---\n${numbered(25_000, (at) => `k${at}: 1\n`)}---\n`,
    'prompts/aliases.md': `---\na: &a 1\nb: [${'*a,'.repeat(5_000)}]\n---\n`,
    'prompts/levels.md': `---\nx: ${'['.repeat(10_000)}\n---\n`,
  });
  const mounts: Record<string, object> = {
    files: { path: `${folder.path}/files` },
    repository: { git: `${folder.path}/repository` },
  };
  for (const [name, [text]] of Object.entries(DOCUMENTS)) {
    site.on(`/api/${slug(name)}`, content(text));
    mounts[`api.${slug(name)}`] = { http: [{ openapi: `${site.origin}/api/${slug(name)}` }] };
  }
  for (const [name, [text]] of Object.entries(FEEDS)) {
    site.on(`/feed/${slug(name)}`, content(text, { 'content-type': 'application/rss+xml' }));
    mounts[`feed.${slug(name)}`] = { http: [{ url: `${site.origin}/feed/${slug(name)}`, feed: true }] };
  }
  for (const [name, text] of Object.entries(LISTS)) {
    site.on(`/${slug(name)}/`, (request, response) => {
      // When it starts, a mount lists one key.
      response.end(request.url?.includes('max-keys=1&') || request.url?.endsWith('max-keys=1') ? listing('') : text);
    });
    mounts[`store.${slug(name)}`] = {
      s3: `s3://${slug(name)}`,
      endpoint: site.origin,
      accessKeyId: 'a',
      secretAccessKey: 'b',
      attempts: 1,
    };
  }
  makeRepository(`${folder.path}/repository`);
  config = await writeConfig(folder, {
    mounts,
    prompts: `${folder.path}/prompts`,
    listing: 'roots',
    limits: { timeoutSeconds: 100 },
  });
});

afterAll(async () => {
  await site.close();
  await folder[Symbol.asyncDispose]();
});

function makeRepository(path: string): void {
  const git = (args: readonly string[], input = ''): string => {
    const { status, stdout, stderr } = spawnSync('git', ['-C', path, ...args], { input, maxBuffer: 1e9 });
    if (status !== 0) throw new Error(String(stderr));
    return stdout.toString('utf8').trim();
  };
  spawnSync('git', ['init', '--quiet', '--bare', '--initial-branch=brackets', path]);
  const tree = git(['mktree'], '');
  for (const [name, author] of Object.entries({
    brackets: '<'.repeat(400_000),
    'empty addresses': '<> '.repeat(300_000),
  }))
    commits[name] = git(
      ['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'],
      `tree ${tree}\nauthor ${author}\ncommitter A <a@example.org> 1 +0000\n\nx\n`,
    );
  for (const [name, oid] of Object.entries(commits)) git(['update-ref', `refs/heads/${slug(name)}`, oid]);
}

describe.each(DIAGONAL)('over $transport, $era', ({ transport, era }) => {
  let connected: ConnectedProgram;
  beforeAll(async () => {
    connected = await connectToProgram(transport, era, ['--config', config, '--log-level', 'silent']);
  });
  afterAll(() => connected?.close());

  /** Gives the outcome, while another resource is read again and again. */
  async function reasonOf(method: string, params: Record<string, unknown>): Promise<string> {
    const asked = connected.request(method, params).then(
      () => 'fine',
      (error: { data?: { reason?: string } }) => error.data?.reason ?? 'not-found',
    );
    let going = true;
    void asked.then(() => {
      going = false;
    });
    let longest = 0;
    do {
      const before = processorMs(connected.pid);
      const { contents } = await connected.request<{ contents: unknown[] }>('resources/read', {
        uri: 'files+file:///small.txt',
      });
      expect(contents).toMatchObject([{ text: 'small' }]);
      longest = Math.max(longest, processorMs(connected.pid) - before);
      // Reads without a pause would take the processor from the parser.
      await Promise.race([asked, pause(BETWEEN_READS_MS)]);
    } while (going);
    expect(longest).toBeLessThan(MAX_WORK_MS);
    return asked;
  }

  it.each(Object.entries(DOCUMENTS))(
    'other requests are answered during a document of an API with %s',
    async (name, [, reason]) => {
      const uri = `api.${slug(name)}+${site.origin}/nothing`;
      expect(outcomesOf(reason)).toContain(await reasonOf('resources/read', { uri }));
      if (reason !== 'not-found') return;
      // The other resources of the document are served all the same.
      const { resources } = await connected.request<{ resources: { uri: string }[] }>('resources/list', {
        uri: undefined,
      });
      expect(resources.length).toBeGreaterThan(0);
      site.on('/known', content('known'));
      expect(await reasonOf('resources/read', { uri: `api.${slug(name)}+${site.origin}/known` })).toBe('fine');
    },
    120_000,
  );

  it.each(Object.entries(FEEDS))(
    'other requests are answered during a feed with %s',
    async (name, [, reason]) => {
      const uri = `feed.${slug(name)}+${site.origin}/feed/${slug(name)}`;
      expect(outcomesOf(reason)).toContain(await reasonOf('resources/list', { uri }));
    },
    120_000,
  );

  it.each(Object.keys(LISTS))(
    'other requests are answered during a list of a store with %s',
    async (name) => {
      expect(await reasonOf('resources/list', { uri: `store.${slug(name)}+s3:///` })).toBe('unavailable');
    },
    120_000,
  );

  it.each(['brackets', 'empty addresses'])(
    'other requests are answered during a commit whose author has many %s',
    async (name) => {
      expect(await reasonOf('resources/read', { uri: `repository+git:///commits/${commits[name]}` })).toBe('fine');
    },
    120_000,
  );

  it('prompts whose front matter takes long are left out, and the others are there', async () => {
    expect(await reasonOf('prompts/list', {})).toBe('fine');
    const { prompts } = await connected.request<{ prompts: { name: string }[] }>('prompts/list');
    expect(prompts.map(({ name }) => name)).toEqual(['fine']);
  }, 120_000);
});
