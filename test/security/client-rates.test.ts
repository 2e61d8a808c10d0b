/** The rate of one OAuth client, over all its principals: over HTTP, in both eras. */
import { expect, it } from 'vitest';
import type { Principal } from '../../src/core/context.ts';
import { createEndpoint, createVitrine } from '../../src/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { ERAS } from '../e2e/harness.ts';
import { INITIALIZE, JSON_HEADERS } from '../e2e/raw.ts';
import { ENVELOPE } from './usage.ts';

const of = (subject: string, clientId: string): Principal => ({
  id: `https://i.example#${subject}`,
  subject,
  clientId,
});

it.each(ERAS)(
  'a rate of a client counts its requests for all principals, and not those of other clients, %s [SEC-TOOL-2]',
  async (era) => {
    const provider = memoryProvider({ resources: { 'note.txt': { text: 'hello' } } });
    const vitrine = createVitrine({
      mounts: [{ name: 'memory', provider, prefix: 'none' }],
      limits: { rates: { client: '4/h' } },
    });
    const endpoint = createEndpoint(vitrine);
    const isModern = era === 'modern';
    const method = isModern ? 'tools/list' : 'initialize';
    const message = isModern
      ? { jsonrpc: '2.0', id: 1, method, params: { _meta: ENVELOPE } }
      : { jsonrpc: '2.0', id: 1, method, params: INITIALIZE };
    const headers = {
      ...JSON_HEADERS,
      host: '127.0.0.1',
      ...(isModern && { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method }),
    };
    const ask = async (principal: Principal): Promise<string> => {
      const request = new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body: JSON.stringify(message) });
      const response = await endpoint.fetch(request, { principal });
      return /"limit":"(rates\.client)"/.exec(await response.text())?.[1] ?? (response.ok ? 'passed' : 'refused');
    };
    for (const subject of ['anna', 'bert', 'anna', 'bert']) expect(await ask(of(subject, 'desk'))).toBe('passed');
    for (const subject of ['anna', 'carl']) expect(await ask(of(subject, 'desk'))).toBe('rates.client');
    expect(await ask(of('anna', 'phone'))).toBe('passed');
    await endpoint.close();
    await vitrine.close();
  },
);
