/** `vitrine check`, and the mistakes of a configuration, with their places. */
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { MUSEUM, MUSEUM_CONFIG } from '../e2e/harness.ts';
import { vitrine } from './here.ts';
import { vitrine as inProcess } from './run.ts';

describe.concurrent('vitrine check', () => {
  let folder: Folder;
  beforeAll(async () => {
    folder = await temporaryFolder({ 'docs/a.md': 'a', 'docs/b/c.md': 'c', 'data/': '' });
  });
  afterAll(() => folder[Symbol.asyncDispose]());

  it('prints the URI of each mount and the number of its entries', async () => {
    await folder.write('good.yaml', 'mounts:\n  docs: ./docs\n  data: { path: ./data }\n');
    expect(await vitrine(['check', '--config', folder.at('good.yaml')])).toEqual({
      status: 0,
      stdout: 'ok  docs  docs+file:///  2 entries\nok  data  data+file:///  0 entries\n',
      stderr: '',
    });
  });

  it('resolves the paths of a configuration from its folder, not from the working directory', async () => {
    await folder.write('vitrine.yaml', 'mounts:\n  docs: docs\n');
    expect(await vitrine(['check', '../vitrine.yaml'], folder.at('data'))).toMatchObject({ status: 0 });
  });

  it('accepts paths, and the configuration of the museum', async () => {
    const { length } = await readdir(MUSEUM);
    expect(await vitrine(['check', MUSEUM])).toMatchObject({
      status: 0,
      stdout: `ok  museum  file:///  ${length} entries\n`,
    });
    expect(await vitrine(['check', '--config', MUSEUM_CONFIG])).toMatchObject({ status: 0, stderr: '' });
  });

  it('accepts JSON', async () => {
    await folder.write('json/vitrine.json', '{"mounts": {"docs": "../docs"}}');
    expect(await vitrine(['check', folder.at('json', 'vitrine.json')])).toMatchObject({ status: 0 });
  });

  it.each<[string, string, RegExp]>([
    ...[
      ['block', "{ url: 'postgres://db.internal/search' }"],
      ['folder', '{ path: ./index }'],
      ['url', 'postgres://db.internal/search'],
    ].map(([name, place]): [string, string, RegExp] => [
      `index-${name}`,
      `index: on\nmounts:\n  docs: { path: ./docs, index: ${place} }\n`,
      /^NAME:3:\d+: mounts\.docs\.index: has to be on or off: there is one index for all mounts, and its place is said by `index` at the top$/,
    ]),
    ['index-word', 'mounts:\n  docs: { path: ./docs, index: maybe }\n', /mounts\.docs\.index: .*"on"\|"off"/],
    ['key', 'mounts:\n  docs: ./docs\nlimts: {}\n', /^NAME:3:1: unknown key "limts"; did you mean "limits"\?$/],
    [
      'key-of-mount',
      'mounts:\n  docs:\n    path: ./docs\n    hiden: true\n',
      /^NAME:4:5: unknown key "hiden" in mounts\.docs; did you mean "hidden"\?$/,
    ],
    ['syntax', 'mounts:\n  docs: ./docs\n bad: {\n', /^NAME:3:\d+: /],
    ['type', 'mounts:\n  docs: ./docs\nlimits:\n  pageSize: many\n', /^NAME:4:3: limits\.pageSize: .*number/],
    ['range', 'mounts:\n  docs: ./docs\nlimits:\n  pageSize: 0\n', /^NAME:4:3: limits\.pageSize: /],
    ['empty', '', /^NAME.*Say what to serve, as in mounts:/],
    ['no-mounts', 'mounts: {}\n', /^NAME:1:1: mounts: Say what to serve, as in mounts:/],
    [
      'mount-name',
      'mounts:\n  My Docs: ./docs\n',
      /^NAME:2:3: mounts\.My Docs: A mount name starts with a lower-case letter/,
    ],
    [
      'keys',
      'mounts:\n  docs: ./docs\nkeys: [hunter2]\n',
      /^NAME:3:1: keys: Key 1 of keys is not base64 of 32 bytes or more; make one with: openssl rand -base64 32$/,
    ],
    [
      'no-keys',
      'mounts:\n  docs: ./docs\nkeys: { file: ./docs/a.md }\n',
      /^keys: Key 1 of .*a\.md is not base64 of 32 bytes or more; make one with: openssl rand -base64 32$/,
    ],
    [
      'lost-keys',
      'mounts:\n  docs: ./docs\nkeys: { file: ./keys }\n',
      /^keys\.file: \.\/keys cannot be read as a file of keys: there is no such file$/,
    ],
    [
      'answers-without-keys',
      'mounts:\n  docs: ./docs\nanswers: { folder: ./cache }\n',
      /^NAME:3:1: answers: Answers are sealed there, also for the next start; add keys, with a key that is made with: openssl rand -base64 32$/,
    ],
    [
      'answers-in-a-file',
      `mounts:\n  docs: ./docs\nkeys: [${'a'.repeat(43)}]\nanswers: { folder: ./docs/a.md }\n`,
      /^The folder of shared answers is a link, or no folder: .*a\.md; name one that is Vitrine's alone$/,
    ],
    ['missing', 'mounts:\n  docs: ./dosc\n', /There is no file or folder at .*dosc$/],
    ['alias', 'mounts:\n  docs: *nowhere\n', /^NAME.*nowhere/],
    [
      'ambiguous',
      'mounts:\n  a: { path: ./docs, prefix: none }\n  b: { path: ./data, prefix: none }\n',
      /^Mounts "a" and "b" both publish file: URIs; remove "prefix: none" from one$/,
    ],
  ])('reports a mistake in one line, as serve does: %s', async (name, text, line) => {
    const file = `${name}.yaml`;
    await folder.write(file, text);
    const checked = await vitrine(['check', '--config', file], folder.path);
    expect(checked).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(/^vitrine: [^\n]+\n$/) });
    expect(checked.stderr.slice('vitrine: '.length, -1).replace(file, 'NAME')).toMatch(line);
    expect(await vitrine(['serve', '--config', file, '--http', '0'], folder.path)).toEqual(checked);
  });

  it('says that there is no bus to share answers on', async () => {
    const keys = `keys: [${'a'.repeat(43)}]`;
    await folder.write('answers-on-a-bus.yaml', `mounts:\n  docs: ./docs\n${keys}\nanswers: bus\n`);
    expect(await vitrine(['serve', '--config', 'answers-on-a-bus.yaml', '--http', '0'], folder.path)).toEqual({
      status: 2,
      stdout: '',
      stderr:
        'vitrine: Answers are to be shared on the bus, and there is none; configure bus, or a folder, or serve with --workers\n',
    });
  });
});

it.each([[['check', 'vitrine.yaml']], [['pins', 'check', 'vitrine.yaml']], [['explain', 'x:///', '--as', 'ada']]])(
  '%j ends the programs that it started when the engine refuses the configuration',
  async (args) => {
    await using folder = await temporaryFolder({
      'docs/a.md': '',
      'vitrine.yaml':
        'mounts:\n  up: { command: cat }\n  a: { path: ./docs, prefix: none }\n  b: { path: ./docs, prefix: none }\n',
    });
    expect(await inProcess(args, folder.path)).toEqual({
      status: 2,
      stdout: '',
      stderr: 'vitrine: Mounts "a" and "b" both publish file: URIs; remove "prefix: none" from one\n',
    });
  },
);
