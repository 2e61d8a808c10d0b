/** `vitrine open` over real programs: who gets in, what the pages show, and that no process is left. */
import { existsSync, readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../e2e/folders.ts';
import { CLI, MUSEUM } from '../../e2e/harness.ts';
import { until } from '../../e2e/waiting.ts';
import { longSleep, runningCount } from '../../processes.ts';
import { opened } from '../opened.ts';
import { vitrine } from '../run.ts';

const INITIALIZE = {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }),
};

describe('vitrine open', () => {
  it('shows a program only to a browser with the key, and leaves no process', async () => {
    const sleep = longSleep();
    const program = `${process.execPath} ${CLI} serve ${MUSEUM} --name ${sleep}`;
    await using explorer = await opened([program, '--no-browser']);
    for (const path of ['/', '/mcp', '/healthz', '/readyz', '/explorer/style.css', '/mcp/server-card'])
      expect((await fetch(explorer.origin + path)).status).toBe(401);
    expect((await fetch(`${explorer.origin}/mcp`, INITIALIZE)).status).toBe(401);
    const home = await explorer.get('/');
    expect(home.status).toBe(200);
    expect(await home.text()).toContain('href="/view/file/"');
    expect(await (await explorer.get('/')).text()).toContain('<a href="/doctor">');
    expect(await (await explorer.get('/raw/file/guide/welcome.md')).text()).toBe(
      readFileSync(`${MUSEUM}/guide/welcome.md`, 'utf8'),
    );
    const shown = await (await explorer.get('/view/file/guide/welcome.md')).text();
    expect(shown).toContain('data-keyed');
    // The page offers no commands or entries for other programs: without the key, these would not get in.
    expect(shown).not.toMatch(/curl |vitrine cat|mcpServers/);
    await until(
      async () => /\d+ passed/.test(await (await explorer.get('/doctor')).text()),
      'the findings of the doctor',
    );
    expect((await explorer.get('/mcp', INITIALIZE)).status).toBe(200);
    expect((await fetch(explorer.entry)).status).toBe(401);
    expect(await explorer.stop()).toBe(130);
    await runningCount(sleep, 0);
  });

  it('shows a path, and opens the address in the browser', async () => {
    await using folder = await temporaryFolder({ 'docs/a.md': 'a clock' });
    await folder.write(
      'browser',
      `#!/bin/sh\nprintf %s "$1" > ${folder.at('went.new')}\nmv ${folder.at('went.new')} ${folder.at('went')}\n`,
    );
    await chmod(folder.at('browser'), 0o755);
    await using explorer = await opened([folder.at('docs')], { BROWSER: folder.at('browser') });
    await until(() => existsSync(folder.at('went')), 'the browser');
    expect(readFileSync(folder.at('went'), 'utf8')).toBe(explorer.entry);
    expect(await (await explorer.get('/view/file/a.md')).text()).toContain('a clock');
  });

  it('says in one sentence that a server asks for a sign-in, or cannot be reached', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end();
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const refused = await vitrine(['open', url, '--no-browser']);
    server.closeAllConnections();
    server.close();
    expect(refused).toMatchObject({ status: 4, stdout: '' });
    expect(refused.stderr).toMatch(/^vitrine: \S+: it asks for a sign-in; .*--bearer.*\n$/);
    const away = await vitrine(['open', 'http://127.0.0.1:1/mcp', '--no-browser']);
    expect(away.status).toBe(5);
    expect(away.stderr).toMatch(/^vitrine: \S+: nothing listens there .*\n$/);
  });
});
