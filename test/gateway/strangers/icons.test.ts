/** Icons of mounted servers of other makers, which write `sizes` as one text, as SEP-973 does. */
import { describe, expect, it } from 'vitest';
import { chooseIcon, trustedIcons } from '../../../src/client/safety/index.ts';
import type { Icon } from '../../../src/protocol/resources.ts';
import { type Connected, ERAS, MATRIX } from '../../e2e/harness.ts';
import { connectToStranger, WAYS } from './link.ts';

const SENT = [
  { src: 'https://stranger.example/icon.png', mimeType: 'image/png', sizes: ['48x48', '96x96'], theme: 'dark' },
  { src: 'https://stranger.example/icon.svg', sizes: ['any'] },
];

/** Everything that has icons, by the request that gives it. */
const ASKED = [
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['tools/list', {}],
  ['prompts/list', {}],
  ['resources/read', { uri: 'stranger+thing:///one' }],
  ['tools/call', { name: 'stranger_one', arguments: {} }],
  ['prompts/get', { name: 'stranger_one' }],
] as const;

/** The values of all fields named `icons`. */
function iconsIn(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(iconsIn);
  return Object.entries(value).flatMap(([name, each]) => (name === 'icons' ? [each] : iconsIn(each)));
}

/** Gives the state that Vitrine reports of the mounted server. */
async function stateOf(on: Connected): Promise<object> {
  const { contents } = await on.request<{ contents: readonly [{ text: string }] }>('resources/read', {
    uri: 'vitrine+state:///upstreams',
  });
  return JSON.parse(contents[0].text).stranger;
}

/** One of each era, for tests in which the transport makes no difference. */
const OVER_HTTP: typeof WAYS = ERAS.map((era) => ({ transport: 'http', era }));

/** The identity of the gateway. */
const server = {
  title: 'The gateway',
  websiteUrl: 'https://gateway.example/',
  icons: [{ src: 'https://gateway.example/icon.png', sizes: '16x16 32x32' }],
};

/** Icons that the configuration adds. */
const MOUNT_ICONS = [{ src: 'https://gateway.example/mount.png', sizes: ['48x48'] }];

describe.concurrent.each(MATRIX)('a client over $transport, $era', (client) => {
  it.each(WAYS)('gets sizes as an array from a server over $transport, $era [973-1, 973-2, 973-3]', async (way) => {
    await using on = await connectToStranger(client, 'icons', way, { around: { server } });
    for (const [method, params] of ASKED) {
      const found = iconsIn(await on.request(method, { ...params }));
      expect(found.length, method).toBeGreaterThan(0);
      for (const icons of found) expect(icons, method).toEqual(SENT);
    }
    // The gateway keeps its own identity, and so does the server behind it.
    const icons = [{ src: 'https://gateway.example/icon.png', sizes: ['16x16', '32x32'] }];
    expect(on.client.getServerVersion()).toMatchObject({ ...server, icons });
    expect(await stateOf(on)).toMatchObject({
      ...{ server: 'icons', version: '2.0.0', title: 'A stranger with icons' },
      ...{ websiteUrl: 'https://stranger.example/about', icons: SENT },
    });
  });

  it.each(OVER_HTTP)(
    'gets no icon that runs or opens something from a server over $transport, $era [973-4, 973-6]',
    async (way) => {
      await using on = await connectToStranger(client, 'trap', way);
      for (const [method, params] of ASKED) {
        const found = iconsIn(await on.request(method, { ...params })) as readonly (readonly Icon[])[];
        expect(found.length, method).toBeGreaterThan(0);
        for (const icons of found) {
          expect(icons, method).toEqual(SENT);
          // The origin of the server is not that of the gateway, so the user decides whether to trust it.
          expect(await trustedIcons(icons, { server: 'https://gateway.example/mcp' })).toEqual([]);
          const trustedDomains = ['stranger.example'];
          const trusted = await trustedIcons(icons, { trustedDomains });
          expect(trusted).toHaveLength(SENT.length);
          expect(chooseIcon(trusted, { size: 96, theme: 'dark' })?.src).toBe(SENT[0]?.src);
          expect(chooseIcon(trusted, { size: 96, theme: 'light' })?.src).toBe(SENT[1]?.src);
          expect(chooseIcon(trusted, { size: 97 })?.src).toBe(SENT[1]?.src);
        }
      }
      const state = await stateOf(on);
      expect(state).toMatchObject({ server: 'icons', icons: SENT });
      expect(state).not.toHaveProperty('websiteUrl');
    },
  );

  it.each(OVER_HTTP)('gets icons of the mount for a folder of a server over $transport, $era [973-2]', async (way) => {
    await using bare = await connectToStranger(client, 'sep', way, { around: { icons: 'on' } });
    const one = await bare.request('resources/metadata', { uri: 'stranger+shelf:///note/1' });
    // Without icons in the mount, Vitrine adds none to resources of a server.
    expect(iconsIn(one)).toEqual([]);
    await using on = await connectToStranger(client, 'sep', way, { icons: MOUNT_ICONS, around: { icons: 'on' } });
    const { resources } = await on.request<{ resources: readonly object[] }>('resources/list');
    expect(resources).toMatchObject([
      { name: 'The shelf', icons: MOUNT_ICONS },
      { name: 'report', icons: [{ src: 'https://stranger.example/report.png', sizes: ['48x48'] }] },
    ]);
    const { resource } = await on.request('resources/metadata', { uri: 'stranger+shelf:///note/1' });
    expect(resource).toMatchObject({ icons: [{ mimeType: 'image/svg+xml', sizes: ['any'] }] });
  });
});
