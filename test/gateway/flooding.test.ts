/** A server sends too much: its connection, its clients and the log are protected. */
import { describe, expect, it } from 'vitest';
import { createContext, type Log, SILENT } from '../../src/core/context.ts';
import { type Upstream, type UpstreamOptions, upstream } from '../../src/providers/upstream/index.ts';
import { MATRIX } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { type Bad, targetOf } from './storm/storm.ts';

const ctx = createContext();
const WANT = { maxBytes: 1_000_000_000, maxChildren: 10 } as const;
const read = (up: Upstream) => up.provider.read('thing:///one', WANT, ctx);

interface Mounted extends AsyncDisposable {
  readonly up: Upstream;
  readonly lines: readonly { readonly level: string; readonly text: string }[];
}

async function mount(bad: Bad, options: Partial<UpstreamOptions> = {}): Promise<Mounted> {
  const server = await targetOf(bad);
  const lines: { level: string; text: string }[] = [];
  const write = (level: string) => (message: string, facts?: object) =>
    void lines.push({ level, text: `${message} ${JSON.stringify(facts ?? {})}` });
  const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const up = upstream({ name: 'bad', target: server.target, log, ...options });
  const end = async (): Promise<void> => {
    await up.close();
    await server[Symbol.asyncDispose]();
  };
  return { up, lines, [Symbol.asyncDispose]: end };
}

describe.each(MATRIX)('a server of the $era era over $transport', (way) => {
  it('that floods after the handshake is cut off, errors say why, and the log stays short [SEC-RES-4, SEC-UTIL-6]', async () => {
    // On a busy machine the server does not send more than a thousand messages a second, which is the usual limit.
    await using mounted = await mount({ kind: 'flood-later', ...way }, { maxMessagesPerSecond: 20 });
    const { up, lines } = mounted;
    // In the 2026 era over HTTP, notices come only over the stream of a watch.
    await up.ready(60_000);
    const watching = up.server.watch?.('tools', () => {}, ctx).catch(() => {});
    const reason = await until(() => up.health().state === 'away' && up.health().lastError, 'it to be cut off');
    expect(reason).toContain('The server behind "bad" is cut off for a while, because it sent');
    await expect(read(up)).rejects.toMatchObject({ code: 'unavailable', message: reason });
    const said = lines.filter(({ level, text }) => level !== 'debug' && text.includes('cut off for a while'));
    expect(said.length).toBeLessThanOrEqual(up.health().restarts + up.health().failures);
    expect(lines.length).toBeLessThan(500);
    await watching;
  });

  it('that sends an answer over the byte limit keeps its connection, and only that request fails', async () => {
    await using mounted = await mount({ kind: 'enormous', ...way });
    const { up } = mounted;
    expect(await up.ready(60_000)).toBe(true);
    for (let turn = 0; turn < 2; turn++) await expect(read(up)).rejects.toMatchObject({ code: 'too-large' });
    expect(up.health()).toMatchObject({ state: 'ready', restarts: 0, failures: 0 });
    expect((await up.provider.listTemplates?.({ limit: 10 }, ctx))?.resourceTemplates).toEqual([]);
  });

  it.each([
    ['an answer with too many values in it', 'thing:///crowd', 'maxMessageValues'],
    [
      'an answer with too many values after a notification with too many',
      'thing:///notice-and-crowd',
      'maxMessageValues',
    ],
    ['an answer that is nested too deep', 'thing:///deep', 'nested deeper than 4000 levels'],
  ])(
    'that sends %s keeps its connection; only that request fails, and the error says why [SEC-RES-4]',
    async (_, uri, why) => {
      await using mounted = await mount({ kind: 'crowded', ...way });
      const { up, lines } = mounted;
      expect(await up.ready(60_000)).toBe(true);
      for (let turn = 0; turn < 3; turn++) {
        const failed = up.provider.read(uri, WANT, ctx);
        await expect(failed).rejects.toMatchObject({ code: 'too-large', message: expect.stringContaining(why) });
      }
      expect(await read(up)).toHaveLength(1);
      expect(up.health()).toMatchObject({ state: 'ready', restarts: 0, failures: 0 });
      expect(lines.filter(({ text }) => text.includes('the request fails that it answers'))).toHaveLength(1);
    },
  );

  it('that sends notifications with too many values loses only these [SEC-RES-4]', async () => {
    await using mounted = await mount({ kind: 'crowded', ...way });
    const { up, lines } = mounted;
    expect(await up.ready(60_000)).toBe(true);
    for (let turn = 0; turn < 3; turn++) expect(await up.provider.read('thing:///notice', WANT, ctx)).toHaveLength(1);
    expect(lines.filter(({ text }) => text.includes('it is left out'))).toHaveLength(1);
  });

  it('that sends very many contents loses those over the limit, and the answer says so [SEC-RES-4]', async () => {
    await using mounted = await mount({ kind: 'crowded', ...way });
    const warned: string[] = [];
    const logging = createContext({ log: { ...SILENT, warn: (_, facts) => void warned.push(JSON.stringify(facts)) } });
    expect(await mounted.up.provider.read('thing:///parts', WANT, logging)).toHaveLength(5_000);
    expect(warned).toEqual([expect.stringContaining('1000 of kind content are left out: an answer has at most 5000')]);
  });

  it('that sends more values than the usual limit is read if its mount allows them', async () => {
    await using mounted = await mount({ kind: 'crowded', ...way }, { maxMessageValues: 1_000_000 });
    expect(await mounted.up.provider.read('thing:///notice-and-crowd', WANT, ctx)).toHaveLength(1);
  });

  it('that reports changes of a list hundreds of times has them merged into few [SEC-RES-4]', async () => {
    await using mounted = await mount({ kind: 'notices', ...way });
    const { up } = mounted;
    let told = 0;
    expect(await up.ready(60_000)).toBe(true);
    const watching = up.server.watch?.('tools', () => void told++, ctx);
    for (let turn = 0; turn < 3; turn++) expect(await read(up)).toHaveLength(1);
    await until(() => told > 0, 'a notice');
    // It sent 900 notifications.
    expect(told).toBeLessThan(100);
    expect(up.health()).toMatchObject({ state: 'ready', restarts: 0 });
    watching?.catch(() => {});
  });
});

it('the log has few and short lines of a program that floods its standard error and never answers', async () => {
  await using mounted = await mount(
    { kind: 'flood-errors', era: 'modern', transport: 'stdio' },
    { connectTimeoutMs: 3_000 },
  );
  expect(await mounted.up.ready(20_000)).toBe(false);
  const written = mounted.lines.filter(({ text }) => text.includes('standard error'));
  expect(written.length).toBeGreaterThan(0);
  expect(written.length).toBeLessThan(1_000);
  expect(written.every(({ text }) => text.length < 10_000)).toBe(true);
});
