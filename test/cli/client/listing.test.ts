/** `vitrine ls`, `tree`, `stat` and `templates` against real servers of both eras, over stdio and HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scripted } from '../../client/scripted.ts';
import { type Listening, MUSEUM, startHttp } from '../../e2e/harness.ts';
import { ODD, oddOverHttp, TOKEN, UNSAFE } from './odd.ts';
import { run } from './run.ts';

/** A reference to an environment variable. Biome would report it in a plain string. */
const REFERENCE = ['$', '{ODD_TOKEN}'].join('');

let museum: Listening;
let odd: Awaited<ReturnType<typeof oddOverHttp>>;
beforeAll(async () => {
  [museum, odd] = await Promise.all([startHttp([MUSEUM]), oddOverHttp()]);
});
afterAll(async () => {
  await Promise.all([museum.stop(), odd[Symbol.asyncDispose]()]);
});

const lines = (text: string): string[] => text.split('\n').slice(0, -1);

describe('ls', () => {
  it('lists the children of the only root, of paths and of URIs', async () => {
    const top = await run(['ls', museum.url]);
    expect(top).toMatchObject({ status: 0, stderr: '' });
    expect(lines(top.stdout)).toContain('file:///guide');
    expect(lines(top.stdout)).toContain('file:///README.md');
    expect(top.stdout).not.toContain('file:///guide/');
    const below = await run(['ls', museum.url, 'collection/clocks', 'file:///guide', 'README.md']);
    expect(below).toMatchObject({ status: 0, stderr: '' });
    expect(lines(below.stdout)).toContain('file:///collection/clocks/winding.toml');
    expect(lines(below.stdout)).toContain('file:///guide/welcome.md');
    // A resource without children is listed itself.
    expect(lines(below.stdout).at(-1)).toBe('file:///README.md');
  });

  it('prints one JSON array, or one JSON value a line, with every field [2093-3]', async () => {
    const [json, jsonl] = await Promise.all([
      run(['ls', museum.url, 'guide', '--json']),
      run(['ls', museum.url, 'guide', '--jsonl']),
    ]);
    const array = JSON.parse(json.stdout) as readonly { readonly uri: string; readonly capabilities: object }[];
    expect(array.find(({ uri }) => uri === 'file:///guide/welcome.md')).toMatchObject({
      name: 'welcome.md',
      mimeType: 'text/markdown',
      capabilities: { list: false, subscribe: true },
    });
    expect(lines(jsonl.stdout).map((line) => JSON.parse(line))).toEqual(array);
  });

  it('stops at limits that the user sets, without a failure, and says so at --max-resources', async () => {
    const few = await run(['ls', '-R', museum.url, '--max-resources', '3']);
    expect(few.status).toBe(0);
    expect(lines(few.stdout)).toHaveLength(3);
    expect(few.stderr).toBe('vitrine: stopped at --max-resources\n');
    const shallow = await run(['ls', '-R', museum.url, 'collection', '--max-depth', '1']);
    expect(shallow).toMatchObject({ status: 0, stderr: '' });
    expect(lines(shallow.stdout)).toContain('file:///collection/clocks');
    expect(shallow.stdout).not.toContain('winding.toml');
  });

  it('lists servers of the 2025 era, over both transports, and cleans their names', async () => {
    const header = ['--header', `Authorization: Bearer ${REFERENCE}`];
    const [stdio, http] = await Promise.all([
      run(['ls', '-l', ODD]),
      run(['ls', '-l', odd.url, ...header], { ODD_TOKEN: TOKEN }),
    ]);
    expect(stdio).toMatchObject({ status: 0, stderr: '' });
    expect(http.stdout).toBe(stdio.stdout);
    expect(stdio.stdout).not.toMatch(UNSAFE);
    expect(lines(stdio.stdout)).toHaveLength(6);
    expect(stdio.stdout).toContain('elsewhere:thing');
  });

  it('prints JSON with the same values, but harmless to a terminal', async () => {
    const { stdout } = await run(['ls', ODD, '--json']);
    expect(stdout).not.toMatch(UNSAFE);
    const [, evil] = JSON.parse(stdout) as readonly { readonly name: string }[];
    expect(evil?.name).toContain('\u001b]0;owned\u0007evil\u001b[31m\u202e\u200b\u009b2Jname\nsecond');
  });
});

describe('a server without resources', () => {
  const ANSWERS = {
    tools: { 'tools/list': () => ({ tools: [{ name: 'one', inputSchema: { type: 'object' } }] }) },
    prompts: { 'prompts/list': () => ({ prompts: [] }) },
  };

  it.each<[string, readonly (keyof typeof ANSWERS)[], string]>([
    ['ls', ['tools'], ', but 1 tool; see vitrine tools --help'],
    ['tree', ['tools', 'prompts'], ', but 1 tool and 0 prompts; see vitrine tools --help'],
    ['ls', ['prompts'], ', but 0 prompts; see vitrine prompts --help'],
    ['tree', [], ''],
  ])('is reported by %s, with its tools and prompts: %j', async (command, kinds, instead) => {
    const answers = Object.assign({}, ...kinds.map((kind) => ANSWERS[kind]));
    await using server = await scripted(answers, Object.fromEntries(kinds.map((kind) => [kind, {}])));
    const [words, json] = await Promise.all([run([command, server.url]), run([command, server.url, '--json'])]);
    const stderr = `vitrine: ${server.url} has no resources${instead}\n`;
    expect(words).toEqual({ status: 0, stdout: '', stderr });
    expect(json).toEqual({ status: 0, stdout: '[]\n', stderr });
  });
});

describe('tree', () => {
  it('draws resources down to a depth', async () => {
    const { status, stdout, stderr } = await run(['tree', museum.url, 'collection', '--max-depth', '2']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const drawn = lines(stdout);
    expect(drawn[0]).toBe('file:///collection');
    expect(drawn).toContain('├── calculators');
    expect(drawn).toContain('│   ├── index.md');
    expect(drawn).toContain('│   └── winding.toml');
    expect(drawn.at(-3)).toBe('└── naïve café clock – №7.md');
    expect(drawn.at(-1)).toBe('3 folders, 16 resources');
  });

  it('prints a list with depths for programs', async () => {
    const { stdout } = await run(['tree', museum.url, 'collection', '--json']);
    const entries = JSON.parse(stdout) as readonly { readonly depth: number; readonly parent: string }[];
    expect(entries).toHaveLength(19);
    expect(entries.at(-1)).toMatchObject({ depth: 2, parent: 'file:///collection/typewriters' });
  });
});

describe('stat', () => {
  it('prints all metadata of a resource, with its formats [2093-2]', async () => {
    const one = await run(['stat', museum.url, 'guide/welcome.md']);
    expect(one).toMatchObject({ status: 0, stderr: '' });
    expect(one.stdout).toMatch(/^ +URI {2}file:\/\/\/guide\/welcome\.md$/m);
    expect(one.stdout).toMatch(/^ +Size {2}3531 bytes \(3\.4K\)$/m);
    expect(one.stdout).toMatch(/^ +Lists {2}no$/m);
    const formats = await run(['stat', ODD, 'odd:///formats', 'odd:///evil']);
    expect(formats.stdout).toMatch(/^ +Formats {2}text\/markdown \(3\)$/m);
    expect(formats.stdout).not.toMatch(UNSAFE);
    const data = await run(['stat', museum.url, 'guide/welcome.md', '--json']);
    expect(JSON.parse(data.stdout)).toMatchObject({ uri: 'file:///guide/welcome.md', size: 3531, source: 'metadata' });
  });

  it('of several resources prints those that it can, and reports the others', async () => {
    const { status, stdout, stderr } = await run(['stat', museum.url, 'README.md', 'nothing', '--jsonl']);
    expect(status).toBe(3);
    expect(lines(stdout)).toHaveLength(1);
    expect(stderr).toMatch(/^vitrine: file:\/\/\/nothing: Resource not found\n$/);
  });

  it('of a server prints its description, in either era', async () => {
    const [modern, legacy, data] = await Promise.all([
      run(['stat', museum.url]),
      run(['stat', ODD]),
      run(['stat', ODD, '--json']),
    ]);
    expect(modern.stdout).toMatch(/^ +Protocol {2}2026-07-28 \(modern\)$/m);
    expect(legacy.stdout).toMatch(/^ +Protocol {2}2025-11-25 \(legacy\)$/m);
    expect(legacy.stdout).not.toMatch(UNSAFE);
    expect(JSON.parse(data.stdout)).toMatchObject({ era: 'legacy', resources: true, version: '1' });
  });
});

it('templates are listed', async () => {
  const [human, data] = await Promise.all([run(['templates', museum.url]), run(['templates', ODD, '--json'])]);
  expect(human).toMatchObject({ status: 0, stderr: '' });
  expect(human.stdout).toMatch(/^file:\/\/\/\{\+path\} {2}A file or folder in museum\n {4}Any file/);
  expect(JSON.parse(data.stdout)).toMatchObject([{ uriTemplate: 'odd:///{name}', description: 'By its name' }]);
});
