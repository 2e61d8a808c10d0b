/** How often a mounted program is started. A start may take seconds, and each process has its own state. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { vitrine } from '../../cli/here.ts';
import { type Folder, temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { type Abilities, type Connected, connect, ERAS, type Era } from '../../e2e/harness.ts';
import { until } from '../../e2e/waiting.ts';
import { answering } from '../fixture/client.ts';

const COUNTED = new URL('./counted.mjs', import.meta.url).href;
const MAIN = fileURLToPath(new URL('../strangers/main.mjs', import.meta.url));

/** A program that appends a line to `starts` in the folder when it is started. */
const counted = (folder: Folder, stranger: string, era: Era | 'both') => ({
  command: process.execPath,
  args: ['--import', COUNTED, MAIN, stranger, '--era', era],
  env: { STARTS: folder.at('starts') },
});

const startsIn = async (folder: Folder): Promise<number> =>
  (await readFile(folder.at('starts'), 'utf8').catch(() => '')).split('\n').length - 1;

async function connected(folder: Folder, era: Era, mounts: object, abilities?: Abilities): Promise<Connected> {
  const config = await writeConfig(folder, { icons: 'off', tools: 'off', mounts });
  return connect('stdio', era, ['--config', config], abilities);
}

const call = async (on: Connected, name: string): Promise<string> =>
  JSON.stringify((await on.request('tools/call', { name, arguments: {} })).content);

const SERVERS = ['legacy', 'modern', 'both'] as const;

/** Everything that a host does with a server. */
async function useAll(on: Connected): Promise<void> {
  await on.request('resources/list');
  await on.request('tools/list');
  await on.request('prompts/list');
  expect(await call(on, 'up_era')).toContain('202');
  expect(await call(on, 'up_log')).toContain('logged');
}

describe.concurrent.each(ERAS)('a client of the %s era of a gateway over stdio', (era) => {
  it.each(SERVERS)(
    'that supports questions uses everything, and the program is started once (era of the program: %s)',
    async (speaks) => {
      await using folder = await temporaryFolder();
      const mounts = { up: counted(folder, 'asking', speaks) };
      const { abilities, asked } = answering();
      await using on = await connected(folder, era, mounts, abilities);
      await useAll(on);
      if (speaks === 'legacy' || (speaks === 'both' && era === 'legacy')) {
        expect(await call(on, 'up_elicitation-create')).toContain("client's word");
        expect(asked).toEqual(['form: Whose word?']);
      }
      expect(await startsIn(folder)).toBe(1);
    },
  );

  it.each(SERVERS)(
    'that supports no questions uses everything, and the program is started once (era of the program: %s)',
    async (speaks) => {
      await using folder = await temporaryFolder();
      await using on = await connected(folder, era, { up: counted(folder, 'asking', speaks) });
      await useAll(on);
      expect(await startsIn(folder)).toBe(1);
    },
  );

  it('with a dozen programs calls all of them, and each is started once', async () => {
    await using folder = await temporaryFolder();
    const names = Array.from({ length: 12 }, (_, index) => `up${index}`);
    const mounts = Object.fromEntries(names.map((name) => [name, counted(folder, 'asking', 'legacy')]));
    await using on = await connected(folder, era, mounts, answering().abilities);
    const { tools } = await on.request<{ tools: readonly unknown[] }>('tools/list');
    expect(tools).toHaveLength(12 * 6);
    await Promise.all(names.map((name) => call(on, `${name}_elicitation-create`)));
    expect(await startsIn(folder)).toBe(12);
  });

  it('with a program whose start is lazy starts it only with its first call', async () => {
    await using folder = await temporaryFolder();
    const lazy = { ...counted(folder, 'asking', 'legacy'), start: 'lazy' };
    await using on = await connected(folder, era, { up: lazy }, answering().abilities);
    expect(await startsIn(folder)).toBe(0);
    expect(await call(on, 'up_elicitation-create')).toContain("client's word");
    expect(await startsIn(folder)).toBe(1);
  });

  it('can go on after the program has ended, because that is started again', async () => {
    await using folder = await temporaryFolder();
    await using on = await connected(folder, era, { up: counted(folder, 'asking', 'legacy') }, answering().abilities);
    expect(await call(on, 'up_elicitation-create')).toContain("client's word");
    const [pid] = (await readFile(folder.at('starts'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGKILL');
    const answered = async (): Promise<boolean> =>
      (await call(on, 'up_elicitation-create').catch(String)).includes("client's word");
    await until(answered, 'the program that is started again');
    expect(await startsIn(folder)).toBe(2);
  });
});

describe.concurrent('a program that asks a question as soon as its client is ready', () => {
  it("gets the answer of the gateway's client", async () => {
    await using folder = await temporaryFolder();
    await using on = await connected(
      folder,
      'legacy',
      { up: counted(folder, 'rooted', 'legacy') },
      answering().abilities,
    );
    expect(await call(on, 'up_roots')).toContain('file:///client/a%20b');
    expect(await startsIn(folder)).toBe(1);
  });
});

describe.concurrent('a program in a command line', () => {
  it.each(SERVERS)('is started once (era of the program: %s)', async (speaks) => {
    await using folder = await temporaryFolder();
    const { command, args, env } = counted(folder, 'asking', speaks);
    const line = [command, ...args].map((part) => `"${part}"`).join(' ');
    const { status, stdout, stderr } = await vitrine(['ls', line, '--env', `STARTS=${env.STARTS}`]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('thing:///asks');
    expect(await startsIn(folder)).toBe(1);
  });
});
