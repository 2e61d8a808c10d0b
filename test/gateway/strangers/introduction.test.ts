/** The identity of a server with `sizes` of its icons as one text, as commands and clients of both eras show it. */
import { existsSync, readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { connectResourceClient } from '../../../src/client/node/index.ts';
import { run } from '../../cli/client/run.ts';
import { temporaryFolder } from '../../e2e/folders.ts';
import { MUSEUM, startHttp } from '../../e2e/harness.ts';
import { ENVELOPE, INITIALIZE, messageOf, post, startPipe } from '../../e2e/raw.ts';
import { until } from '../../e2e/waiting.ts';
import { commandOf, connectToStranger, startStranger, WAYS } from './link.ts';

const ICONS = [
  { src: 'https://stranger.example/icon.png', mimeType: 'image/png', sizes: ['48x48', '96x96'], theme: 'dark' },
  { src: 'https://stranger.example/icon.svg', sizes: ['any'] },
];
const SHOWN = 'https://stranger.example/icon.png (48x48 96x96), https://stranger.example/icon.svg (any)';

describe.each(WAYS)('a server of another maker over $transport, $era', (way) => {
  it('is shown to clients of the library, with its entries [973-1, 973-3]', async () => {
    await using server = await startStranger('icons', way);
    const { mount } = server;
    await using resources = await connectResourceClient(mount as { url: string });
    const facts = await resources.connect();
    expect(facts).toMatchObject({
      name: 'icons',
      version: '2.0.0',
      title: 'A stranger with icons',
      websiteUrl: 'https://stranger.example/about',
      icons: ICONS,
    });
    expect(facts.description).toBeUndefined();
    for await (const resource of resources.list()) expect(resource.icons).toEqual(ICONS);
    for await (const template of resources.templates()) expect(template.icons).toEqual(ICONS);
    expect((await resources.metadata('thing:///one')).resource.icons).toEqual(ICONS);
    expect((await resources.read('thing:///one')).primary?.resource.icons).toEqual(ICONS);
  });

  it('has title, website and icons in `stat` and `doctor` [973-1, 973-3, 973-5]', async () => {
    await using server = await startStranger('icons', way);
    const stat = await run(['stat', commandOf(server)]);
    expect(stat.stdout).toMatch(/^ +Title {2}A stranger with icons$/m);
    expect(stat.stdout).toMatch(/^ +Website {2}https:\/\/stranger\.example\/about$/m);
    expect(stat.stdout).toContain(`Icons  ${SHOWN}\n`);
    const told = JSON.parse((await run(['stat', commandOf(server), '--json'])).stdout);
    expect(told).toMatchObject({ websiteUrl: 'https://stranger.example/about', icons: ICONS });
    const doctor = await run(['doctor', commandOf(server), '--check', 'server-info']);
    expect(doctor.stdout).toContain('\n  title: A stranger with icons\n  website: https://stranger.example/about\n');
    expect(doctor.stdout).toContain(`\n  icons: ${SHOWN}\n`);
    const diagnosis = JSON.parse((await run(['doctor', commandOf(server), '--check', 'server-info', '--json'])).stdout);
    expect(diagnosis.server).toMatchObject({ title: 'A stranger with icons', icons: ICONS });
  });

  it('has its website opened if that is trusted, and not otherwise [973-4]', async () => {
    await using server = await startStranger('icons', way);
    await using folder = await temporaryFolder({});
    const opened = folder.at('opened');
    await folder.write('browser', `#!/bin/sh\nprintf %s "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`);
    await chmod(folder.at('browser'), 0o755);
    const env = { BROWSER: folder.at('browser') };
    const refused = await run(['website', commandOf(server)], env);
    expect(refused).toMatchObject({ status: 4, stdout: '' });
    expect(refused.stderr).toContain('https://stranger.example/about, which is not opened');
    const elsewhere = await run(['website', commandOf(server), '--trust', 'example.com'], env);
    expect(elsewhere.status).toBe(4);
    const printed = await run(['website', commandOf(server), '--trust', 'stranger.example', '--print'], env);
    expect(printed).toMatchObject({ status: 0, stdout: 'https://stranger.example/about\n' });
    expect(existsSync(opened)).toBe(false);
    const followed = await run(['website', commandOf(server), '--trust', 'stranger.example'], env);
    expect(followed).toMatchObject({ status: 0, stdout: 'https://stranger.example/about\n' });
    await until(() => existsSync(opened), 'the browser to be started');
    expect(readFileSync(opened, 'utf8')).toBe('https://stranger.example/about');
  });
});

describe.each(WAYS)('a gateway for a server of another maker over $transport, $era', (way) => {
  const client = {
    title: 'Reading room',
    websiteUrl: 'https://library.example/',
    icons: [{ src: 'https://library.example/icon.png', mimeType: 'image/png', sizes: '48x48 96x96' }],
  };

  it.each([
    ['its name and version', {}, {}],
    [
      'title, website and icons of its configuration',
      { client },
      { ...client, icons: [{ ...client.icons[0], sizes: ['48x48', '96x96'] }] },
    ],
  ])('introduces itself with %s [973-5]', async (_what, around, introduced) => {
    const asks = { transport: 'http', era: 'modern' } as const;
    await using connection = await connectToStranger(asks, 'curious', way, { around });
    const { content } = await connection.client.callTool({ name: 'stranger_who', arguments: {} });
    expect(JSON.parse((content as { text: string }[])[0]?.text ?? '')).toEqual({
      name: 'vitrine',
      version: expect.stringMatching(/^\d/),
      ...introduced,
    });
  });
});

describe('a client that sends sizes of its icons as one text [973-3]', () => {
  const clientInfo = {
    ...INITIALIZE.clientInfo,
    title: null,
    icons: [{ src: 'https://c.example/i.png', sizes: '48x48' }],
  };
  const envelope = { ...ENVELOPE, 'io.modelcontextprotocol/clientInfo': clientInfo };

  it('is served over HTTP in both eras', async () => {
    await using server = await startHttp([MUSEUM]);
    const begun = await post(server.url, 'legacy', 'initialize', { ...INITIALIZE, clientInfo });
    expect(messageOf(begun).result).toMatchObject({ serverInfo: { name: 'vitrine' } });
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'resources/list' };
    const listed = await post(server.url, 'legacy', 'resources/list', { _meta: envelope }, headers);
    expect(messageOf(listed).result).toHaveProperty('resources');
  });

  it('is served over standard input and output in both eras', async () => {
    await using legacy = startPipe('legacy', [MUSEUM]);
    expect((await legacy.request(1, 'initialize', { ...INITIALIZE, clientInfo })).result).toHaveProperty('serverInfo');
    await using modern = startPipe('legacy', [MUSEUM]);
    expect((await modern.request(1, 'resources/list', { _meta: envelope })).result).toHaveProperty('resources');
  });
});
