/** Secrets in names, titles, descriptions, URIs, completions, and texts of prompts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure } from '../e2e/answers.ts';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { type Connected, connect } from '../e2e/harness.ts';

// Joined here, so that a scan of the sources for secrets finds none.
const TOKEN = `gh${'p_'}wxyzabcdefghijklmnopqrstuvw012345678`;
const SECRET = TOKEN.slice(4, 12);
const MARK = '[redacted: github-token]';

/** A server that has a secret in every text about itself. */
const SERVER = `
const TOKEN = 'gh' + '${TOKEN.slice(2)}';
const said = { title: 'A title of ' + TOKEN, description: 'Uses ' + TOKEN };
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, serverInfo: { name: 's', version: '1' },
    capabilities: { resources: {}, tools: {}, prompts: {}, completions: {} } }),
  'resources/list': () => ({ resources: [
    { uri: 'memo://open', name: 'open', mimeType: 'text/plain', ...said },
    { uri: 'memo://named', name: TOKEN, mimeType: 'text/plain' },
    { uri: 'memo://' + TOKEN, name: 'inUri', mimeType: 'text/plain' },
    { uri: 'memo://' + TOKEN.replace('_', '%5F'), name: 'inEscapedUri', mimeType: 'text/plain' },
    { uri: 'memo://plain', name: 'plain', mimeType: 'text/plain' } ] }),
  'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'memo://{key}', name: 'keys', ...said }] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'text/plain', text: 'a line', ...said }] }),
  'tools/list': () => ({ tools: [
    { name: 'act', ...said, inputSchema: { type: 'object', properties: { a: { type: 'string', default: TOKEN } } } },
    { name: 'use_' + TOKEN, inputSchema: { type: 'object' } } ] }),
  'prompts/list': () => ({ prompts: [{ name: 'ask', ...said, arguments: [{ name: 'key' }] }, { name: 'ask_' + TOKEN }] }),
  'completion/complete': ({ argument }) => {
    const values = ['alpha', TOKEN, 'gamma'].filter((each) => each.startsWith(argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  },
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const reply = answer ? { result: answer(params) } : { error: { code: -32601, message: 'Method not found' } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...reply }) + '\\n');
});
`;

describe.each([
  { action: 'redact', transport: 'stdio', era: 'legacy' },
  { action: 'redact', transport: 'http', era: 'modern' },
  { action: 'refuse', transport: 'stdio', era: 'legacy' },
  { action: 'refuse', transport: 'http', era: 'modern' },
] as const)('what is said of things with secrets ($action), over $transport, $era', ({ action, transport, era }) => {
  const refuses = action === 'refuse';
  let folder: Folder;
  let on: Connected;

  beforeAll(async () => {
    folder = await temporaryFolder();
    await folder.write(`data/${TOKEN}/inside.txt`, 'a line\n');
    await folder.write(`data/plain.txt`, 'a line\n');
    await folder.write('data/except/kept.txt', `kept ${TOKEN}\n`);
    await folder.write('server.cjs', SERVER);
    await folder.write(
      'prompts/tell.md',
      `---\ntitle: Of ${TOKEN}\ndescription: Uses ${TOKEN}\n---\nSay ${TOKEN} now.\n`,
    );
    await folder.write('prompts/embed.md', '---\ndescription: Shows\n---\n{{resource data+file:///except/kept.txt}}\n');
    const config = await writeConfig(folder, {
      mounts: { data: './data', up: { command: process.execPath, args: [folder.at('server.cjs')] } },
      prompts: './prompts',
      redact: { action, except: ['data+file:///except/**'] },
    });
    on = await connect(transport, era, [config]);
  });
  afterAll(async () => {
    await on?.close();
    await folder?.[Symbol.asyncDispose]();
  });

  const names = (list: readonly { readonly name: string }[]): readonly string[] => list.map(({ name }) => name).sort();
  const clean = (answer: unknown): void => expect(JSON.stringify(answer).includes(SECRET)).toBe(false);

  it('resources: secrets are covered, and entries with one in their URI are left out', async () => {
    const { resources } = await on
      .request<{ resources: { name: string; description?: string }[] }>('resources/list', {
        uri: 'up+memo://',
      })
      .catch(() => on.request<{ resources: { name: string; description?: string }[] }>('resources/list', {}));
    clean(resources);
    const memos = resources.filter((each) => JSON.stringify(each).includes('up+memo'));
    expect(memos.some(({ name }) => name === 'plain')).toBe(true);
    expect(names(memos).filter((name) => /^in.*Uri$/.test(name))).toEqual([]);
    expect(names(memos).includes('open')).toBe(!refuses);
    expect(JSON.stringify(memos).includes(MARK)).toBe(!refuses);
    const folderList = await on.request<{ resources: { name: string }[] }>('resources/list', { uri: 'data+file:///' });
    clean(folderList);
    expect(names(folderList.resources)).toEqual(['except', 'plain.txt']);
  });

  it('templates: secrets are covered, and no value with one is suggested', async () => {
    const templates = await on.request<{ resourceTemplates: { name: string }[] }>('resources/templates/list');
    clean(templates);
    expect(names(templates.resourceTemplates).includes('keys')).toBe(!refuses);
    const complete = (value: string): Promise<unknown> =>
      on.request('completion/complete', {
        ref: { type: 'ref/resource', uri: 'up+memo://{key}' },
        argument: { name: 'key', value },
      });
    expect(await complete('')).toMatchObject({ completion: { values: ['alpha', 'gamma'], total: 2, hasMore: false } });
    for (const guess of [TOKEN.slice(0, 5), TOKEN.slice(0, 12), 'gh'])
      expect(await complete(guess)).toMatchObject({ completion: { values: [], total: 0, hasMore: false } });
    const ofPrompt = await on.request('completion/complete', {
      ref: { type: 'ref/prompt', name: 'up_ask' },
      argument: { name: 'key', value: 'g' },
    });
    expect(ofPrompt).toMatchObject({ completion: { values: ['gamma'], total: 1 } });
  });

  it('contents: secrets in descriptions are covered, or the read is refused', async () => {
    const reading = on.request('resources/read', { uri: 'up+memo://open' });
    if (refuses) expect((await failure(reading)).data).toMatchObject({ reason: 'denied' });
    else {
      const answer = await reading;
      clean(answer);
      expect(JSON.stringify(answer)).toContain(MARK);
      expect(JSON.stringify(answer)).toContain('a line');
    }
  });

  it('tools and prompts of another server: secrets are covered, and entries with one in their name are left out', async () => {
    const { tools } = await on.request<{ tools: { name: string }[] }>('tools/list');
    clean(tools);
    expect(names(tools).filter((name) => name.startsWith('up_'))).toEqual(refuses ? [] : ['up_act']);
    expect(JSON.stringify(tools).includes(MARK)).toBe(!refuses);
  });

  it('prompts of a folder: secrets in descriptions and texts are covered, or the prompts are left out', async () => {
    const { prompts } = await on.request<{ prompts: { name: string }[] }>('prompts/list');
    clean(prompts);
    expect(names(prompts)).toEqual(refuses ? ['embed'] : ['embed', 'tell', 'up_ask']);
    const told = on.request('prompts/get', { name: 'tell' });
    if (refuses) clean((await failure(told)).message);
    else {
      expect(JSON.stringify(await told)).toContain(`Say ${MARK}`);
      clean(await told);
    }
  });

  it('a resource in a prompt that is not scanned stays unchanged', async () => {
    expect(JSON.stringify(await on.request('prompts/get', { name: 'embed' }))).toContain(`kept ${TOKEN}`);
  });

  it('search by names does not reveal secrets', async () => {
    const search = async (glob: string): Promise<unknown> => {
      const { structuredContent } = await on.request<{ structuredContent: { matches: unknown } }>('tools/call', {
        name: 'search',
        arguments: { glob },
      });
      return structuredContent.matches;
    };
    for (const guess of [TOKEN.slice(0, 5), TOKEN.slice(0, 12), TOKEN])
      for (const glob of [`${guess}*`, `${guess}*/**`, `**/${guess}*`]) expect(await search(glob), glob).toEqual([]);
    clean(await search('*'));
  });
});

/** Names of folders that are also glob patterns. */
const FOLDERS = ['a (old)', 'a)', 'a^b', 'a+b', '!a', 'a[1]', '{a,b}', 'a{b', 'größe', '書類', 'a@(b)', '.a'];

describe.each([
  { transport: 'stdio', era: 'legacy' },
  { transport: 'http', era: 'modern' },
] as const)('globs of redact, over $transport, $era', ({ transport, era }) => {
  const escaped = (name: string): string => name.replace(/[*?[\]{}\\]/g, '\\$&').replace(/^!/, '\\!');
  const globs = FOLDERS.map((name) => `data+file:///${escaped(name)}/**`);

  it.each([
    { list: 'uris', within: true },
    { list: 'except', within: false },
  ])('$list applies to the folders that it names, and to no others', async ({ list, within }) => {
    await using folder = await temporaryFolder();
    for (const name of [...FOLDERS, 'other']) await folder.write(`data/${name}/deep/x.txt`, `x ${TOKEN} x\n`);
    const mounts = { data: { path: './data', hidden: true } };
    const config = await writeConfig(folder, { mounts, redact: { [list]: globs } });
    await using on = await connect(transport, era, [config]);
    for (const name of [...FOLDERS, 'other']) {
      const uri = `data+file:///${encodeURIComponent(name)}/deep/x.txt`;
      const { contents } = await on.request<{ contents: { text: string }[] }>('resources/read', { uri });
      expect(contents[0]?.text.includes(MARK), name).toBe((name === 'other') !== within);
    }
  });
});
