/** Kept results of the `read` tool, which are given again to callers who may call the tool and read the resource. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AccessDecision } from '../../src/core/access.ts';
import type { Principal } from '../../src/core/context.ts';
import { temporaryFolder } from './folders.ts';
import { ERAS } from './harness.ts';
import { auditLines, serve, stopClock, URI } from './kept-server.ts';

const ANNA: Principal = { id: 'anna', subject: 'anna' };
const BEN: Principal = { id: 'ben', subject: 'ben' };

beforeEach(stopClock);
afterEach(() => vi.restoreAllMocks());

const resultIn = (answer: string) => JSON.parse(answer).result;
const textsIn = (answer: string): string =>
  resultIn(answer)
    .content.map((block: { text?: string; resource?: { text: string } }) => block.text ?? block.resource?.text)
    .join('\n');

/** Sets of arguments. The result for each set is kept separately. */
const WAYS = [
  {},
  { as: 'embedded' },
  { as: 'plain' },
  { as: 'window' },
  { as: 'window', max_bytes: 4 },
  { as: 'window', start_offset: 2, max_bytes: 4 },
  { start_offset: 3 },
];

describe.each(ERAS)('in the %s era', (era) => {
  it.each(WAYS)(
    'an unchanged resource is not read again, and the result is the same, byte for byte: %j',
    async (way) => {
      const args = { uri: URI, ...way };
      const plainly = (answer: string): string => answer.replace(/"lastModified":"[^"]*"/g, '');
      await using fresh = serve({ limits: { keptBytes: 0 } });
      await using server = serve();
      const expected = plainly(await fresh.tool(era, args));
      const first = await server.tool(era, args);
      const { reads } = server;
      const before = reads();
      expect(plainly(first)).toBe(expected);
      for (let count = 0; count < 2; count++) expect(await server.tool(era, args)).toBe(first);
      expect(reads()).toBe(before);
    },
  );

  it('a resource that was changed, removed or replaced by a folder is read again, at once', async () => {
    await using server = serve();
    await server.tool(era, { uri: URI });
    for (const text of ['# Steel\n', '# Glass\n']) {
      server.memory.set('a.md', { text });
      expect(textsIn(await server.tool(era, { uri: URI }))).toContain(text);
    }
    server.memory.delete('a.md');
    expect(resultIn(await server.tool(era, { uri: URI })).isError).toBe(true);
    server.memory.set('a.md/b.txt', { text: 'within' });
    expect(textsIn(await server.tool(era, { uri: URI }))).toContain('directory');
  });

  it('a folder is listed each time', async () => {
    await using server = serve();
    await server.tool(era, { uri: 'm+memory:///' });
    const before = server.lists();
    await server.tool(era, { uri: 'm+memory:///' });
    expect(server.lists()).toBeGreaterThan(before);
  });

  it('both the call and the read are decided about each time [SEC-TOOL-2, SEC-RES-2]', async () => {
    const effects = new Map<string, AccessDecision['effect']>();
    const decide = ({ operation }: { readonly operation: string }): AccessDecision => ({
      effect: effects.get(operation) ?? 'allow',
      rule: 'the one',
    });
    await using server = serve({ access: { name: 'changing', attributes: false, decide, readMeansAll: () => true } });
    const allowed = await server.tool(era, { uri: URI });
    for (const operation of ['call', 'read']) {
      for (const effect of ['deny', 'hide', 'ask'] as const) {
        effects.set(operation, effect);
        expect(await server.tool(era, { uri: URI }), `${operation}: ${effect}`).not.toContain('Brass');
      }
      effects.delete(operation);
      expect(await server.tool(era, { uri: URI })).toBe(allowed);
    }
    expect(server.reads()).toBe(1);
  });

  it('a caller does not get what only another one may read', async () => {
    const rules = [{ effect: 'hide', who: { subjects: ['ben'] } }, { effect: 'allow' }] as const;
    await using server = serve({ access: { rules } });
    for (let count = 0; count < 2; count++) {
      expect(textsIn(await server.tool(era, { uri: URI }, { principal: ANNA }))).toContain('Brass');
      expect(await server.tool(era, { uri: URI }, { principal: BEN })).not.toContain('Brass');
    }
  });

  it('the audit has the same lines as without kept results [RES-9]', async () => {
    const linesOf = async (keptBytes: number): Promise<string[]> => {
      await using folder = await temporaryFolder();
      const file = folder.at('audit.jsonl');
      {
        await using server = serve({
          audit: { file },
          limits: { keptBytes },
          access: { rules: [{ effect: 'deny', who: { subjects: ['ben'] } }, { effect: 'allow' }] },
        });
        for (const principal of [ANNA, ANNA, BEN, ANNA])
          for (const way of WAYS) await server.tool(era, { uri: URI, ...way }, { principal });
      }
      return await auditLines(file, '"method"');
    };
    const lines = await linesOf(1_000_000);
    expect(lines.filter((line) => line.includes('"tools/call"'))).toHaveLength(4 * WAYS.length);
    expect(lines).toEqual(await linesOf(0));
  });

  it('a kept result counts as a call [SEC-TOOL-2]', async () => {
    await using server = serve({ limits: { rates: { tools: { read: '5/h' } } } });
    for (let turn = 0; turn < 5; turn++) expect(textsIn(await server.tool(era, { uri: URI }))).toContain('Brass');
    expect(await server.tool(era, { uri: URI })).toContain('limited');
    expect(server.reads()).toBe(1);
  });

  it.each<[string, object]>([
    ['an unknown argument', { uri: URI, more: 1 }],
    ['a list for a URI', { uri: [URI] }],
    ['another value of `as`', { uri: URI, as: 'embedded' }],
    ['a type', { uri: URI, format: 'text/markdown' }],
    ['lines', { uri: `${URI}#L1` }],
  ])('a call with %s gets no result of another call', async (_, args) => {
    await using fresh = serve({ limits: { keptBytes: 0 } });
    await using server = serve();
    await server.tool(era, { uri: URI });
    const plainly = (answer: string): string => answer.replace(/"lastModified":"[^"]*"/g, '');
    expect(plainly(await server.tool(era, args))).toBe(plainly(await fresh.tool(era, args)));
  });

  it('the tool can have a prefix, and no other tool gives its kept result', async () => {
    await using server = serve({ resourceTools: { prefix: 'm' } });
    const first = await server.tool(era, { uri: URI }, {}, 'm_read');
    expect(await server.tool(era, { uri: URI }, {}, 'm_read')).toBe(first);
    expect(server.reads()).toBe(1);
    expect(await server.tool(era, { uri: URI }, {}, 'read')).toContain('There is no tool named');
    expect(await server.tool(era, { uri: URI }, {}, 'm_describe')).not.toBe(first);
  });
});
