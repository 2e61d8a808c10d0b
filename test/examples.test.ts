/** The examples do what they show: each is started, and used by the official client. */
import { readFile } from 'node:fs/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { createVitrine, serveHttp, type Vitrine } from 'vitrine';
import { z } from 'zod';
import { createExample as createShop } from '../examples/inside-hono.ts';
import { createTracker } from '../examples/issue-tracker.ts';
import { createExample as createNotes } from '../examples/own-tools.ts';
import { ERAS, type Era } from './e2e/harness.ts';
import { until, within } from './e2e/waiting.ts';

const loose = z.looseObject({});
const versionNegotiation = { legacy: { mode: 'legacy' }, modern: { mode: { pin: '2026-07-28' } } } as const;

type Ask = (method: string, params?: Record<string, unknown>) => Promise<Record<string, unknown>>;

/** Connects to an endpoint, runs, and disconnects. */
async function withClient(
  era: Era,
  url: string,
  run: (ask: Ask, client: Client) => Promise<void>,
  headers: Record<string, string> = {},
): Promise<void> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: versionNegotiation[era], capabilities: { elicitation: {} } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  try {
    await run((method, params = {}) => client.request({ method, params }, loose), client);
  } finally {
    await client.close();
  }
}

/** The same with a server in this process. */
async function served(era: Era, vitrine: Vitrine, run: (ask: Ask, client: Client) => Promise<void>): Promise<void> {
  const serving = await serveHttp(vitrine, { port: 0 });
  try {
    await withClient(era, serving.url, run);
  } finally {
    await serving.close();
    await vitrine.close();
  }
}

describe.each(ERAS)('the examples, %s', (era) => {
  it('issue-tracker.ts: pages, completes, and reports changes', async () => {
    const { provider, save } = createTracker();
    for (let number = 1; number <= 7; number++) save(number, `Issue ${number}`, `Text of ${number}`);
    const vitrine = createVitrine({ mounts: [{ name: 'issues', provider }], limits: { pageSize: 3 } });
    await served(era, vitrine, async (ask, client) => {
      const listed: string[] = [];
      let cursor: unknown;
      do {
        const page = await ask('resources/list', { uri: 'issues+issue:///', ...(cursor !== undefined && { cursor }) });
        const resources = page.resources as { uri: string; title: string }[];
        expect(resources.length).toBeLessThanOrEqual(3);
        listed.push(...resources.map((each) => `${each.uri} ${each.title}`));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(listed).toEqual([1, 2, 3, 4, 5, 6, 7].map((number) => `issues+issue:///${number} Issue ${number}`));

      const { completion } = await ask('completion/complete', {
        ref: { type: 'ref/resource', uri: 'issues+issue:///{number}' },
        argument: { name: 'number', value: '4' },
      });
      expect(completion).toMatchObject({ values: ['4'] });

      const told: string[] = [];
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri));
      const uri = 'issues+issue:///2';
      if (era === 'legacy') {
        await ask('resources/subscribe', { uri });
        save(2, 'Issue 2', 'Another text');
      } else {
        const listening = await client.listen({ resourceSubscriptions: [uri] });
        save(2, 'Issue 2', 'Another text');
        await until(() => told.length > 0, 'the update');
        await listening.close();
      }
      await until(() => told.length > 0, 'the update');
      expect(told[0]).toBe(uri);
      const { contents } = await ask('resources/read', { uri });
      expect(contents).toMatchObject([{ uri, text: 'Another text', mimeType: 'text/markdown' }]);
    });
  });

  it('own-tools.ts: structured results, progress, a question to the user, a prompt', async () => {
    const { vitrine } = createNotes();
    await served(era, vitrine, async (ask, client) => {
      const call = (name: string, args: Record<string, unknown> = {}) => ask('tools/call', { name, arguments: args });
      const { tools } = (await ask('tools/list')) as { tools: { name: string; outputSchema?: object }[] };
      expect(tools.find((tool) => tool.name === 'measure')?.outputSchema).toMatchObject({ type: 'object' });
      expect(await call('measure', { name: 'ideas.md' })).toMatchObject({ structuredContent: { lines: 3, words: 7 } });
      expect(await call('measure', { name: 'none.md' })).toMatchObject({ isError: true });
      expect(await call('measure', {})).toMatchObject({ isError: true });

      const reports: number[] = [];
      await client.request({ method: 'tools/call', params: { name: 'survey', arguments: {} } }, loose, {
        onprogress: ({ progress }) => void reports.push(progress),
      });
      expect(reports).toEqual([1, 2]);

      const answers: unknown[] = [
        { action: 'decline' },
        { action: 'accept', content: { sure: false } },
        { action: 'accept', content: { sure: true } },
      ];
      client.setRequestHandler('elicitation/create', () => answers.shift() as never);
      const outcomes: unknown[] = [];
      for (let time = 0; time < 3; time++) outcomes.push((await call('discard', { name: 'ideas.md' })).content);
      const kept = [{ type: 'text', text: 'ideas.md was kept: the user said no' }];
      expect(outcomes).toEqual([kept, kept, [{ type: 'text', text: 'ideas.md is gone' }]]);
      await expect(ask('resources/read', { uri: 'note:///ideas.md' })).rejects.toMatchObject({ code: -32602 });

      const { messages } = await ask('prompts/get', { name: 'review', arguments: { name: 'shopping.md' } });
      expect(messages).toMatchObject([
        { content: { type: 'text' } },
        { content: { type: 'resource', resource: { uri: 'note:///shopping.md', name: 'shopping.md' } } },
      ]);
    });
  });

  it('inside-hono.ts: serves beside the routes of the application, behind its key', async () => {
    const shop = await createShop('secret');
    try {
      expect(await (await fetch(shop.url)).text()).toBe('The museum shop is open');
      expect((await fetch(`${shop.url}/mcp`, { method: 'POST', body: '{}' })).status).toBe(401);
      const headers = { 'X-Shop-Key': 'secret' };
      await withClient(
        era,
        `${shop.url}/mcp`,
        async (ask) => {
          const put = await fetch(`${shop.url}/prices/postcard`, { method: 'PUT', headers, body: '0.80' });
          expect(put.status).toBe(204);
          const { contents } = await ask('resources/read', { uri: 'price:///postcard.txt' });
          expect(contents).toMatchObject([{ text: '0.80', mimeType: 'text/plain' }]);
        },
        headers,
      );
    } finally {
      await within(shop.close(), 'the end of the application');
    }
  });
});

describe('the example of a provider', () => {
  it('has fewer than 60 lines', async () => {
    const text = await readFile(new URL('../examples/issue-tracker.ts', import.meta.url), 'utf8');
    expect(text.trimEnd().split('\n').length).toBeLessThan(60);
  });
});
