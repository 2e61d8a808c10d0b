import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createSecrets } from '../config/secrets.ts';
import { SILENT } from '../core/context.ts';
import { wrapProvider } from '../core/layer.ts';
import type { ResourceProvider } from '../core/provider.ts';
import { loadConfig } from './index.ts';
import { openConfig } from './open.ts';

const seen = vi.hoisted(() => ({ opened: 0, closed: 0 }));

function counted(provider: ResourceProvider): ResourceProvider {
  seen.opened++;
  return wrapProvider(provider, {
    async close() {
      seen.closed++;
      await provider.close?.();
    },
  });
}

vi.mock('../config/prompts.ts', async (original) => {
  const { promptFoldersOf } = await original<typeof import('../config/prompts.ts')>();
  const countedFolders: typeof promptFoldersOf = async (...args) =>
    (await promptFoldersOf(...args)).map((folder) => ({
      ...folder,
      ...(folder.provider && { provider: counted(folder.provider) }),
    }));
  return { promptFoldersOf: countedFolders };
});

vi.mock('./ranked-index.ts', () => ({
  async rankedIndexOf() {
    throw new Error('there is no index');
  },
}));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-open-'));
  await mkdir(join(folder, 'prompts'));
});
afterAll(() => rm(folder, { recursive: true }));

async function written(more: string): Promise<string> {
  const file = join(folder, 'vitrine.yaml');
  await writeFile(file, `mounts: { docs: . }\nprompts: ./prompts\n${more}`);
  Object.assign(seen, { opened: 0, closed: 0 });
  return file;
}

it('closes the folder of prompts when the policy cannot be opened', async () => {
  const file = await written('access: { cedar: { policies: gone.cedar } }\n');
  await expect(openConfig(file, [], { log: SILENT, secrets: createSecrets() })).rejects.toThrow('gone.cedar');
  expect(seen).toEqual({ opened: 1, closed: 1 });
});

it('closes the folder of prompts when the index cannot be opened', async () => {
  await expect(loadConfig(await written(''))).rejects.toThrow('there is no index');
  expect(seen).toEqual({ opened: 1, closed: 1 });
});

it('leaves the folder of prompts open for the program that uses the configuration', async () => {
  const configured = await openConfig(await written(''), [], { log: SILENT, secrets: createSecrets() });
  expect(seen).toEqual({ opened: 1, closed: 0 });
  for (const { provider } of [...configured.mounts, ...configured.promptFolders]) await provider?.close?.();
});
