/** Roots that the client gives a server, in both eras. */
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guardRoots, type RootsOptions, type RootsSource } from '../../../src/client/guards/index.ts';
import { type Connected, ERAS } from '../../e2e/harness.ts';
import { askedBy, connectHostile, recorder } from './hostile.ts';

async function exposed(client: Client, roots: RootsSource | undefined, options: RootsOptions = {}) {
  const { onEvent, told } = recorder();
  client.setRequestHandler('roots/list', guardRoots(roots, { onEvent, ...options }));
  const { a } = await askedBy(client, { a: { method: 'roots/list' } });
  return { roots: (a as { roots: { uri: string; name?: string }[] }).roots, told: told() };
}

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'filesystem-root': [
    'file:///',
    'file:///C:/',
    'file:///c%3A/',
    'file:///C|/',
    'file:///mnt/c',
    'file:///MNT/C/',
    'file:///c',
    'file:///C:notes',
    'file:///C:%20',
    'file:///cygdrive',
    'file:///cygdrive/c',
    'file:///CygDrive/C/',
    'file:///host_mnt/d',
    'file:///mnt/host/c',
    'file:///Volumes/Disk',
    'file:///Volumes/Macintosh%20HD',
    'file:///mnt/wslg/distro',
    'file:///wsl$',
    'file:///wsl$/Ubuntu',
    'file:///WSL.localhost/Ubuntu/',
    'file:///wsl$/Ubuntu/mnt/c',
  ],
  home: [
    'file:///home/ada',
    'file:///home/ada/',
    'file:///home',
    'file:///Users/ada',
    'file:///USERS/Ada',
    'file:///home/ada%EF%BC%8Fx',
    'file:///C:/Users/ada',
    'file:///c:/users',
    'file:///mnt/c/Users/ada',
    'file:///mnt/C/USERS/Ada',
    'file:///cygdrive/c/Users/ada',
    'file:///cygdrive/C/users',
    'file:///c/Users/ada',
    'file:///host_mnt/c/Users/ada',
    'file:///mnt/host/c/Users/ada',
    'file:///Volumes/Disk/Users/ada',
    'file:///Volumes/Macintosh%20HD/Users/ada',
    'file:///mnt/wslg/distro/home/ada',
    'file:///mnt/wslg/distro/mnt/c/Users/ada',
    'file:///wsl$/Ubuntu/home/ada',
    'file:///wsl.localhost/Debian/home',
  ],
  system: [
    'file:///etc',
    'file:///etc/ssl',
    'file:///usr/local',
    'file:///var/lib/x',
    'file:///private/etc',
    'file:///root',
    'file:///System/Library',
    'file:///proc/self',
    'file:///tmp',
    'file:///C:/Windows/System32',
    'file:///C:/Program%20Files/x',
    'file:///C:/PROGRA~1/x',
    'file:///C:/windows%2e',
    'file:///cygdrive/c/Windows/System32',
    'file:///cygdrive/c/PROGRA~1/x',
    'file:///c/Program%20Files/x',
    'file:///mnt/C/WINDOWS',
    'file:///Volumes/Macintosh%20HD/etc',
    'file:///wsl$/Ubuntu/etc/ssl',
    'file:///wsl$/Ubuntu/tmp',
    'file:///%3F/C:/projects',
    'file:///%3F%3F/C:/projects',
  ],
  secrets: [
    'file:///home/ada/.ssh',
    'file:///srv/app/.aws/x',
    'file:///C:/Users/ada/AppData/Local',
    'file:///Users/ada/Library/Keychains',
    ...[
      '.env',
      '.env.local',
      '.ENV',
      '.bash_history',
      '.zsh_history',
      '.Python_History',
      '.gitconfig',
      '.git-credentials',
      '.pgpass',
      '.mozilla/firefox/x.default',
      '.google-chrome',
      '.anything',
      'snap/firefox/common',
      'Library/Application%20Support',
      '.bash%E2%80%8B_history',
      '.ss%E2%80%8Bh',
      '%EF%BC%8Essh',
    ].flatMap((name) => [`file:///home/ada/${name}`, `file:///Users/ada/${name}`, `file:///C:/Users/ada/${name}`]),
    // These are sensitive in any folder, not only in a home.
    'file:///srv/app/.env',
    'file:///srv/app/.env.production',
    'file:///srv/app/.npmrc',
    'file:///srv/keys/server.pem',
    'file:///srv/keys/ID_RSA.bak',
    'file:///projects/.git-credentials',
    'file:///projects/.psql_history',
    'file:///mnt/c/Users/ada/.anything',
    'file:///cygdrive/c/Users/ada/.anything',
    'file:///cygdrive/c/Users/ada/AppData/Local',
    'file:///c/Users/ada/.anything',
    'file:///Volumes/Disk/Users/ada/.anything',
    'file:///Volumes/Disk/Users/ada/Library',
    'file:///wsl$/Ubuntu/home/ada/.anything',
  ],
  'not-a-file-uri': [
    'https://example.com/',
    'file://server/share',
    'file://wsl$/Ubuntu/home/ada',
    'file:////wsl$/Ubuntu/home/ada',
    'file://wsl.localhost/Ubuntu/home/ada',
    'file:////?/C:/Users/ada',
    'file://?/C:/Users/ada',
    'file:///%5C%5C%3F%5CC:%5CUsers',
    '/home/ada/work',
    'file:///home/ada/work/../..',
    'file:///home/ada/%2e%2e/%2e%2e',
    'file:///home/ada%2F..',
    'file:///home/ada/work?x=1',
    'file:relative',
    'file:///home//ada',
    '\u0000',
  ],
};

describe.each(ERAS)('roots in the %s era', (era) => {
  let connected: Connected;
  beforeAll(async () => {
    connected = await connectHostile(era, { capabilities: { roots: {} } });
  });
  afterAll(() => connected.close());

  it('are empty by default [SEC-ROOT-1]', async () => {
    expect(await exposed(connected.client, undefined)).toEqual({ roots: [], told: [] });
  });

  it('are exactly the configured ones, in canonical form [SEC-ROOT-1]', async () => {
    const given = [
      { uri: 'file:///home/ada/work/notes/', name: 'Notes\u001b[2J', _meta: { secret: 1 } },
      { uri: 'file://localhost/home/ada/caf%C3%A9' },
      { uri: 'file:///c:/projects/site' },
      { uri: 'file:///projects/.github/environment' },
    ];
    const { roots, told } = await exposed(connected.client, () => ({ roots: given }));
    expect(roots).toEqual([
      { uri: 'file:///home/ada/work/notes', name: 'Notes' },
      { uri: 'file:///home/ada/caf%C3%A9' },
      { uri: 'file:///C:/projects/site' },
      { uri: 'file:///projects/.github/environment' },
    ]);
    expect(told).toEqual(Array.from({ length: 4 }, () => 'allowed exposed'));
  });

  it.each(Object.entries(REFUSED))('are never %s [SEC-ROOT-1]', async (reason, uris) => {
    const { roots, told } = await exposed(
      connected.client,
      uris.map((uri) => ({ uri })),
    );
    expect(roots).toEqual([]);
    expect(told).toEqual(uris.map(() => `refused ${reason}`));
  });

  it('include sensitive folders only if these are allowed by name [SEC-ROOT-1]', async () => {
    const given = ['file:///home/ada', 'file:///home/eve', 'file:///'].map((uri) => ({ uri }));
    const { roots } = await exposed(connected.client, given, { allow: ['file:///home/ada/'] });
    expect(roots).toEqual([{ uri: 'file:///home/ada' }]);
  });

  it('exclude a home in another place, its parents, and targets of links to it [SEC-ROOT-1]', async () => {
    const home = await exposed(
      connected.client,
      [
        { uri: 'file:///export/people' },
        { uri: 'file:///export/people/ada/work' },
        { uri: 'file:///export/people/ada/.x' },
      ],
      {
        home: 'file:///export/people/ada',
      },
    );
    expect(home.roots).toEqual([{ uri: 'file:///export/people/ada/work' }]);
    const linked = await exposed(connected.client, [{ uri: 'file:///projects/link' }], {
      resolve: () => 'file:///etc',
    });
    expect(linked).toEqual({ roots: [], told: ['refused system'] });
  });

  it.each(['file:///', 'file:///home', 'file:///Users', 'file:///Users/ada', undefined])(
    'exclude homes of others, whatever the home of the user: %s [SEC-ROOT-1]',
    async (home) => {
      const others = ['/home/alice', '/Users/bob', '/home/alice/.config', '/Users/bob/Library', '/C:/Users/eve'];
      const { roots, told } = await exposed(
        connected.client,
        others.map((path) => ({ uri: `file://${path}` })),
        home === undefined ? {} : { home },
      );
      expect(roots).toEqual([]);
      expect(told).toEqual(['home', 'home', 'secrets', 'secrets', 'home'].map((reason) => `refused ${reason}`));
    },
  );

  it('exclude a home on a drive, however the drive is written [SEC-ROOT-1]', async () => {
    const paths = ['D:', 'd|', 'd', 'mnt/d', 'CYGDRIVE/D', 'host_mnt/d', 'mnt/host/d', 'wsl$/Ubuntu/mnt/d'];
    for (const home of ['file:///D:/people/ada', 'file:///mnt/d/people/ada', 'file:///cygdrive/D/People/Ada']) {
      const sensitive = await exposed(
        connected.client,
        paths.flatMap((path) =>
          ['people', 'people/ada', 'people/ada/.x'].map((end) => ({ uri: `file:///${path}/${end}` })),
        ),
        { home },
      );
      expect(sensitive.roots).toEqual([]);
      expect(sensitive.told).toEqual(paths.flatMap(() => ['refused home', 'refused home', 'refused secrets']));
      const others = paths.map((path) => ({ uri: `file:///${path}/people/ada/work` }));
      expect((await exposed(connected.client, others, { home })).roots).toHaveLength(paths.length);
    }
  });

  it('include folders on drives, disks and in systems of WSL [SEC-ROOT-1]', async () => {
    const given = [
      'file:///C:/projects/site',
      'file:///mnt/c/projects',
      'file:///mnt/data',
      'file:///mnt/wslg',
      'file:///cygdrive/c/projects/boot',
      'file:///c/projects',
      'file:///Volumes/Disk/dev',
      'file:///Volumes/Disk/Users/ada/work',
      'file:///Volumes/Macintosh%20HD/Users/ada/work',
      'file:///wsl$/Ubuntu/home/ada/work',
    ].map((uri) => ({ uri }));
    expect((await exposed(connected.client, given)).roots).toEqual(given);
  });

  it("can each need the user's consent [SEC-ROOT-1]", async () => {
    const given = ['file:///projects/a', 'file:///projects/b'].map((uri) => ({ uri }));
    const { roots, told } = await exposed(connected.client, given, { approve: ({ uri }) => uri.endsWith('/b') });
    expect(roots).toEqual([{ uri: 'file:///projects/b' }]);
    expect(told).toEqual(['refused declined', 'allowed exposed']);
  });
});
