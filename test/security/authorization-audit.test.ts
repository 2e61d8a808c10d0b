/** Refused tokens leave a trace in the audit, and cannot flood it. */
import { describe, expect, it } from 'vitest';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { ERAS } from '../e2e/harness.ts';
import { post } from '../e2e/raw.ts';
import { linesOf } from './audit-lines.ts';
import { bearer, EVERYTHING, hashOf, RESOURCE } from './authorization-servers.ts';

const GOOD = 'static-token-0123456789abcdef';
const URI = 'memory:///a.txt';

describe.each(ERAS)('refused tokens, %s', (era) => {
  it('are recorded: the first of each kind, and the number of the following ones; never a token [RES-9]', async () => {
    await using folder = await temporaryFolder({});
    const file = folder.at('audit.jsonl');
    const vitrine = createVitrine({
      mounts: [{ name: 'docs', provider: memoryProvider({ resources: { 'a.txt': { text: 'a' } } }), prefix: 'none' }],
      access: EVERYTHING,
      audit: { file },
    });
    const tokens = [{ name: 'till', hash: hashOf(GOOD), scopes: ['docs:read'] }];
    const serving = await serveHttp(vitrine, { port: 0, auth: { resource: RESOURCE, tokens, scopes: ['docs:read'] } });
    const ask = async (headers: Record<string, string>): Promise<number> =>
      (await post(serving.url, era, 'resources/read', { uri: URI }, { 'Mcp-Name': URI, ...headers })).status;

    expect(await ask({})).toBe(401);
    for (let guess = 0; guess < 50; guess++) expect(await ask(bearer(`guess-${guess}-0123456789abcdef`))).toBe(401);
    expect(await ask({ Authorization: 'Bearer !' })).toBe(400);
    await serving.close();
    await vitrine.close();

    const tried = (await linesOf(file)).filter(({ method }) => method === 'authenticate');
    const alike = { principal: 'anonymous', peer: '127.0.0.1', decision: 'deny', outcome: 'denied' };
    expect(tried).toMatchObject([
      { ...alike, name: 'invalid_token' },
      { ...alike, name: 'invalid_request' },
      { ...alike, name: 'invalid_token', times: 49 },
    ]);
    expect(tried[0]).not.toHaveProperty('times');
    expect(JSON.stringify(tried)).not.toContain('guess');
  });
});
