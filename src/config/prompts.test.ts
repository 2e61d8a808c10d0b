import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../core/context.ts';
import { ConfigError } from './error.ts';
import { parseConfig } from './load.ts';
import { closeMounts, mountsOf } from './mounts.ts';
import { promptFoldersOf } from './prompts.ts';

let base: string;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'vitrine-config-'));
  await mkdir(join(base, 'docs', 'my prompts', 'deep'), { recursive: true });
  await mkdir(join(base, 'docs', '.hidden'));
  await writeFile(join(base, 'docs', 'file.md'), 'x');
  await mkdir(join(base, 'prompts'));
});

afterAll(() => rm(base, { recursive: true }));

/** Returns the folders of prompts of a configuration, whose mounts are closed by then. */
async function folders(yaml: string) {
  const config = parseConfig(yaml, 'vitrine.yaml');
  const mounts = await mountsOf(config.mounts, { base });
  try {
    return await promptFoldersOf(config, mounts, base);
  } finally {
    await closeMounts(mounts);
  }
}

describe('the folders of prompts in a configuration', () => {
  it('are none when it names none', async () => {
    expect(await folders('mounts:\n  docs: ./docs\n')).toEqual([]);
  });

  it('are published URIs in mounts, whichever prefix they have', async () => {
    const block = (more: string): string => `mounts:\n  docs: { path: ./docs, prompts: ./my prompts/deep/, ${more} }\n`;
    expect(await folders(block('prefix: name'))).toEqual([{ uri: 'docs+file:///my%20prompts/deep', watch: true }]);
    expect(await folders(block('prefix: none, watch: false'))).toEqual([
      { uri: 'file:///my%20prompts/deep', watch: false },
    ]);
  });

  it('have a provider of their own at the top, which is not a mount', async () => {
    const [folder, ...others] = await folders('mounts:\n  docs: ./docs\nprompts: ./prompts\n');
    expect(others).toEqual([]);
    expect(folder?.uri).toBe('file:///');
    expect(await folder?.provider?.metadata('file:///', createContext())).toMatchObject({ name: 'prompts' });
    await folder?.provider?.close?.();
  });

  it.each([
    ['a folder that is not there', 'gone', /shows no folder "gone"/],
    ['a folder that is not shown', '.hidden', /shows no folder/],
    ['a file', 'file.md', /shows no folder/],
    ['a way up', '../prompts', /a folder below the mount/],
    ['a way up in the middle', 'my prompts/../../prompts', /a folder below the mount/],
    ['an absolute path', '/etc', /a folder below the mount/],
  ])('are not %s', async (_, prompts, message) => {
    const refused = await folders(`mounts:\n  docs: { path: ./docs, prompts: '${prompts}' }\n`).catch(
      (e: unknown) => e,
    );
    expect(refused).toBeInstanceOf(ConfigError);
    expect((refused as ConfigError).message).toMatch(/^mounts\.docs\.prompts: /);
    expect((refused as ConfigError).message).toMatch(message);
  });

  it('are refused in a mount that is bounded by roots, and where the top one is not there', async () => {
    await expect(folders('mounts:\n  docs: { path: ./docs, prompts: my prompts, roots: client }\n')).rejects.toThrow(
      /cannot be bounded by roots/,
    );
    await expect(folders('mounts:\n  docs: ./docs\nprompts: ./gone\n')).rejects.toThrow(/no file or folder/);
  });
});

describe('a mount that is bounded by roots', () => {
  it('shows nothing before they are known', async () => {
    const config = parseConfig('mounts:\n  docs: { path: ./docs, roots: client, symlinks: true }\n', 'vitrine.yaml');
    const mounts = await mountsOf(config.mounts, { base });
    const provider = mounts[0]?.provider;
    expect(provider?.features.roots).toBe(true);
    await expect(provider?.metadata('file:///file.md', createContext())).rejects.toMatchObject({ code: 'denied' });
    await closeMounts(mounts);
  });

  it('may be one file', async () => {
    const config = parseConfig('mounts:\n  docs: { path: ./docs/file.md, roots: client }\n', 'vitrine.yaml');
    const mounts = await mountsOf(config.mounts, { base });
    const ctx = createContext({ roots: ['file:///'] });
    expect(await mounts[0]?.provider.metadata('file:///file.md', ctx)).toMatchObject({ name: 'file.md' });
    await closeMounts(mounts);
  });
});

describe('tools and confirmations in a configuration', () => {
  const MOUNTS = 'mounts:\n  docs: ./docs\n';

  it.each(['on', 'off'])('take the word %s', (word) => {
    expect(parseConfig(`${MOUNTS}tools: ${word}\n`, 'f').tools).toBe(word);
  });

  it('take a block', () => {
    const { tools, confirm } = parseConfig(
      `${MOUNTS}tools: { prefix: docs, outputBytes: 5000 }\nconfirm: ['docs+file:///private/**']\n`,
      'f',
    );
    expect(tools).toEqual({ prefix: 'docs', outputBytes: 5_000 });
    expect(confirm).toEqual(['docs+file:///private/**']);
  });

  it.each(['tools: yes', 'tools: { prefix: a b }', 'tools: { outputBytes: 10 }', 'confirm: x', "confirm: ['']"])(
    'refuse %s',
    (line) => {
      expect(() => parseConfig(`${MOUNTS}${line}\n`, 'f')).toThrow(ConfigError);
    },
  );
});
