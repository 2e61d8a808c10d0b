/** Makes everything in the table: providers, a database, and servers to be mounted. */
import { DatabaseSync } from '@photostructure/sqlite';
import { wrapProvider } from '../../../../src/core/layer.ts';
import type { Mount } from '../../../../src/core/mounts/mount.ts';
import { type MemoryProvider, memoryProvider } from '../../../../src/providers/memory/index.ts';
import { sqlProvider } from '../../../../src/providers/sql/index.ts';
import { upstream } from '../../../../src/providers/upstream/index.ts';
import { temporaryFolder } from '../../../e2e/folders.ts';
import { type SloppyServer, sloppyServer } from './sloppy-server.ts';
import { HANDED_OUT, IMITATION, MOUNTED_SERVERS, type MountName, ROWS, row, served, THINGS } from './things.ts';

export interface World extends AsyncDisposable {
  /** Makes new mounts with these names, in this order, with fresh texts in memory. */
  mounts(names: readonly MountName[]): { readonly mounts: readonly Mount[]; readonly docs: MemoryProvider };
}

export async function makeWorld(): Promise<World> {
  const files = await temporaryFolder();
  const database = new DatabaseSync(files.at('data.sqlite'));
  database.exec('CREATE TABLE people (email TEXT PRIMARY KEY, note TEXT)');
  database.exec('CREATE TABLE parts (region TEXT, code TEXT, note TEXT, PRIMARY KEY (region, code))');
  for (const [table, keys] of Object.entries(ROWS)) {
    for (const key of keys) {
      const values = [...key.split(','), row(table, key).inText];
      database.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join(', ')})`).run(...values);
    }
  }
  database.close();
  const data = await sqlProvider({ sql: files.at('data.sqlite'), watch: false });
  const servers = await Promise.all(MOUNTED_SERVERS.map((mount) => mountedServer(mount as 'up' | 'raw')));
  const staying = (provider: Mount['provider']): Mount['provider'] => wrapProvider(provider, { close: async () => {} });

  function mountOf(name: MountName, docs: MemoryProvider): Mount {
    switch (name) {
      case 'docs':
        return { name, provider: docs };
      case 'notes':
        return { name, provider: memoryOf('notes', 'note:///', 'note'), prefix: 'none' };
      case 'data':
        return { name, provider: staying(data) };
      case 'up':
      case 'raw': {
        const found = servers.find(({ mount }) => mount === name);
        if (found === undefined) throw new Error(`${name} is no server`);
        const { provider, server } = found.far;
        return { name, provider: staying(provider), server, ...(name === 'raw' && { prefix: 'none' as const }) };
      }
    }
  }

  return {
    mounts(names) {
      const docs = memoryOf('docs', 'docs+memory:///', 'memory');
      return { docs, mounts: names.map((name) => mountOf(name, docs)) };
    },
    async [Symbol.asyncDispose]() {
      await data.close?.();
      for (const { far, server } of servers) {
        await far.close();
        await server[Symbol.asyncDispose]();
      }
      await files[Symbol.asyncDispose]();
    },
  };
}

async function mountedServer(mount: 'up' | 'raw') {
  const letter = mount === 'up' ? 'u' : 'w';
  const handedOut = HANDED_OUT.map((uri, index) =>
    uri.replace(/#(\d?)/, (_, digit) => `${letter}0${digit || index + 1}z`),
  );
  const server: SloppyServer = await sloppyServer({
    name: mount,
    things: served(mount),
    handedOut: mount === 'raw' ? [...handedOut, IMITATION] : handedOut,
    said: `said by ${mount}`,
  });
  const far = upstream({ name: mount, target: { url: server.url }, connections: 'shared' });
  if (!(await far.ready(60_000))) throw new Error(`${mount} cannot be reached`);
  return { mount, server, far };
}

function memoryOf(mount: MountName, root: string, scheme: string): MemoryProvider {
  const texts = THINGS.filter((each) => each.mount === mount && each.kind === 'text');
  return memoryProvider({
    name: mount,
    scheme,
    resources: Object.fromEntries(
      texts.map(({ uri, inText, inTitle, mimeType }) => [
        uri.slice(root.length).split('/').map(decodeURIComponent).join('/'),
        { text: inText, mimeType, ...(inTitle !== '' && { title: inTitle }) },
      ]),
    ),
  });
}
