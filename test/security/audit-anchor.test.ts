/**
 * Heads of the audit that are noted in another place reveal changes that the audit itself cannot show: a missing end, and a rewritten
 * chain (RES-9).
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { chainLine, unchain } from '../../src/layers/audit/chain.ts';
import { vitrine } from '../cli/here.ts';
import { read } from '../e2e/answers.ts';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { type Connected, connectHttp, connectStdio, ERAS, startHttp } from '../e2e/harness.ts';
import { connectToProgram } from '../e2e/programs.ts';
import { until } from '../e2e/waiting.ts';
import { type Line, linesOf } from './audit-lines.ts';

const NOTES = { to: 'elsewhere/heads.jsonl', everySeconds: 1 };

/** A folder with an audit and its heads, for one test. The tests run at the same time, because each of them waits for seconds. */
interface Place extends AsyncDisposable {
  readonly folder: Folder;
  readonly file: string;
  readonly anchors: string;
  configure(anchor: unknown, audit?: object): Promise<string>;
  /** The heads that were noted. */
  heads(): Promise<Line[]>;
  verify(...more: readonly string[]): Promise<readonly [number | null, string]>;
  /** Runs a server that writes an audit, and that notes heads between its lines and at its end. */
  written(audit?: object, count?: number): Promise<void>;
  rewrite(change: (lines: readonly string[]) => readonly string[]): Promise<void>;
}

async function setPlace(): Promise<Place> {
  const folder = await temporaryFolder({ 'docs/a.txt': 'a', 'elsewhere/': '' });
  const file = folder.at('audit.jsonl');
  const anchors = folder.at('elsewhere', 'heads.jsonl');
  const configure: Place['configure'] = (anchor, audit = {}) =>
    writeConfig(folder, { mounts: { docs: './docs' }, audit: { file: 'audit.jsonl', anchor, ...audit } });
  const heads = async (): Promise<Line[]> =>
    (await linesOf(anchors).catch(() => [])).filter(({ anchor }) => anchor === 1);
  return {
    folder,
    file,
    anchors,
    configure,
    heads,
    async verify(...more) {
      const { status, stdout, stderr } = await vitrine(['audit', 'verify', file, ...more]);
      return [status, stdout + stderr];
    },
    async written(audit = {}, count = 3) {
      const before = (await heads()).length;
      await using server = await startHttp([await configure(NOTES, audit)]);
      await using on = await connectHttp('modern', server);
      await until(async () => (await heads()).length > before, 'a head at the beginning');
      await reads(on, count);
      await until(async () => (await heads()).length > before + 1, 'a head in between');
      await on.close();
      await server.stop();
    },
    async rewrite(change) {
      const lines = (await readFile(file, 'utf8')).split(/(?<=\n)/);
      await writeFile(file, change(lines).join(''));
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const reads = async (on: Connected, count = 3): Promise<void> => {
  for (let index = 0; index < count; index++) await read(on, 'docs+file:///a.txt');
};

describe.concurrent.each(ERAS)('in the %s era, heads', (era) => {
  it('are noted in a file while a server runs and at its end, and each is the head of a line of the chain', async () => {
    await using place = await setPlace();
    const { file, anchors, configure, heads, verify } = place;
    const on = await connectStdio(era, [await configure(NOTES)]);
    await until(async () => (await heads()).length > 0, 'a head');
    await reads(on);
    await on.close();
    const lines = await until(async () => {
      const all = await linesOf(file);
      return all.at(-1)?.event === 'end' && (await heads()).at(-1)?.seq === all.length && all;
    }, 'the head at the end');
    const noted = await heads();
    expect(noted.length).toBeGreaterThan(1);
    for (const { time, seq, head, ...more } of noted) {
      expect(more).toEqual({ anchor: 1 });
      expect(new Date(String(time)).toISOString()).toBe(time);
      expect(lines[Number(seq) - 1]?.hash).toBe(head);
    }
    expect(await verify('--anchor', anchors)).toEqual([0, expect.stringMatching(/^ok {2}/)]);
  });
});

describe.concurrent('with heads from another place, verify finds', () => {
  /** Rewrites all lines from one on with right hashes, as anyone can who computes them. */
  const forged = (lines: readonly string[], from: number): readonly string[] => {
    let before = unchain(lines[from] ?? '').before;
    return lines.map((line, index) => {
      if (index < from) return line;
      const { text, seal, link } = chainLine(
        unchain(line.trimEnd()).members.replace('"outcome":"ok"', '"outcome":"no"'),
        before,
      );
      before = link;
      return `${text}${seal}`;
    });
  };

  it('an end that was cut off', async () => {
    await using place = await setPlace();
    const { anchors, verify, written, rewrite } = place;
    await written();
    await rewrite((lines) => lines.slice(0, -2));
    expect((await verify())[0]).toBe(0);
    expect(await verify('--anchor', anchors)).toEqual([
      1,
      expect.stringMatching(/lines \d+ to \d+ of the audit are missing at the end: the last was noted elsewhere at \d/),
    ]);
  });

  it('an end that was cut off before another start', async () => {
    await using place = await setPlace();
    const { anchors, verify, written, rewrite } = place;
    await written();
    await rewrite((lines) => lines.slice(0, -2));
    await written();
    expect((await verify())[0]).toBe(0);
    expect(await verify('--anchor', anchors)).toEqual([
      1,
      expect.stringMatching(
        /line \d+ of the audit is not the one that was noted elsewhere at \d|another head was noted for line/,
      ),
    ]);
  });

  it('a chain that was rewritten from some line on', async () => {
    await using place = await setPlace();
    const { anchors, verify, written, rewrite } = place;
    await written();
    await rewrite((lines) =>
      forged(
        lines,
        lines.findIndex((line) => line.includes('"outcome":"ok"')),
      ),
    );
    expect((await verify())[0]).toBe(0);
    expect(await verify('--anchor', anchors)).toEqual([
      1,
      expect.stringMatching(/line \d+ of the audit is not the one that was noted elsewhere at \d/),
    ]);
  });

  it('an audit that was replaced by a new one', async () => {
    await using place = await setPlace();
    const { file, anchors, verify, written } = place;
    await written();
    await rm(file);
    await written();
    expect((await verify())[0]).toBe(0);
    expect((await verify('--anchor', anchors))[0]).toBe(1);
  });

  it('the removal of oldest files by somebody else, and not the rotation by the server', async () => {
    await using place = await setPlace();
    const { file, anchors, verify, written } = place;
    await written({ maxBytes: 4_096, maxFiles: 3 }, 60);
    expect(await verify('--anchor', anchors)).toEqual([
      0,
      expect.stringMatching(/^ok .* in 3 files, number (?!1 )\d+ to/),
    ]);
    await rm(`${file}.2`);
    expect(await verify()).toEqual([0, expect.stringContaining('note: lines ')]);
    expect(await verify('--anchor', anchors)).toEqual([
      1,
      expect.stringMatching(
        /lines \d+ to \d+ of the audit are missing before this one, and the server did not delete them/,
      ),
    ]);
  });

  it('changed and contradictory notes, and ignores other lines between notes', async () => {
    await using place = await setPlace();
    const { anchors, verify, written } = place;
    await written();
    const text = await readFile(anchors, 'utf8');
    await writeFile(anchors, `a line of a log\n${text}`);
    expect((await verify('--anchor', anchors))[0]).toBe(0);
    const line = text.slice(0, text.indexOf('\n') + 1);
    await writeFile(anchors, `${text}${line.replace(/"head":"\w{8}/, '"head":"00000000')}`);
    expect(await verify('--anchor', anchors)).toEqual([1, expect.stringContaining('another head was noted for line')]);
    await writeFile(anchors, `${text}{"anchor":1,"seq":"1"}\n`);
    expect(await verify('--anchor', anchors)).toEqual([1, expect.stringContaining('not a note of a head')]);
  });

  it('no head in a file without notes, and says so', async () => {
    await using place = await setPlace();
    const { folder, file, verify, written } = place;
    await written();
    expect(await verify('--anchor', file)).toEqual([2, expect.stringContaining('No head was noted in')]);
    expect(await verify('--anchor', folder.at('none'))).toEqual([2, expect.stringContaining('cannot be read: ENOENT')]);
  });
});

interface Receiver extends AsyncDisposable {
  readonly origin: string;
  readonly requests: readonly {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage['headers'];
    readonly body: string;
  }[];
  /** The most requests that were open at the same time. */
  readonly most: () => number;
}

/** An HTTP server that takes heads, and answers as the test says. */
async function receiver(answer: (response: ServerResponse, index: number) => void): Promise<Receiver> {
  const requests: Receiver['requests'][number][] = [];
  let open = 0;
  let most = 0;
  const server = createServer((request, response) => {
    most = Math.max(most, ++open);
    response.on('close', () => open--);
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      answer(response, requests.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    most: () => most,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const SECRET = 'hook-0123456789-secret';

describe.concurrent('heads that are sent to a URL', () => {
  const placeOf = ({ origin }: Receiver): object => ({
    to: `${origin}/${SECRET}?key=${SECRET}`,
    headers: { authorization: `Bearer ${SECRET}` },
    everySeconds: 1,
  });

  it('arrive one at a time with the headers, and match what the server wrote', async () => {
    await using place = await setPlace();
    const { file, anchors, configure, heads, verify } = place;
    await using there = await receiver((response) => response.writeHead(204).end());
    const server = await startHttp([await configure(placeOf(there))]);
    const on = await connectHttp('modern', server);
    await until(() => there.requests.length === 1, 'a head');
    await reads(on);
    await on.close();
    await server.stop();
    const [first] = there.requests;
    expect(first).toMatchObject({
      method: 'POST',
      url: `/${SECRET}?key=${SECRET}`,
      headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
    });
    await writeFile(anchors, there.requests.map(({ body }) => body).join(''));
    expect(await verify('--anchor', anchors)).toEqual([0, expect.stringMatching(/^ok /)]);
    const lines = await linesOf(file);
    expect((await heads()).at(-1)?.seq).toBe(lines.length);
    expect(server.output()).not.toContain(SECRET);
  });

  it.each<[string, (response: ServerResponse) => void, string]>([
    ['refuses', (response) => response.writeHead(500).end('no'), 'status 500'],
    ['leads elsewhere', (response) => response.writeHead(307, { location: '/other' }).end(), 'status 307'],
    ['breaks off', (response) => response.destroy(), 'UND_ERR_SOCKET'],
    ['says far too much', (response) => response.writeHead(500).write('x'.repeat(100_000)), 'status 500'],
  ])('block nothing if the place %s, and the log says so once, without secrets', async (_name, answer, reason) => {
    await using place = await setPlace();
    const { configure } = place;
    await using there = await receiver((response, index) =>
      index < 4 ? answer(response) : response.writeHead(200).end(),
    );
    await using server = await startHttp([await configure(placeOf(there))]);
    await using on = await connectHttp('modern', server);
    await until(() => server.output().includes('audit: the head cannot be noted elsewhere'), 'the log');
    await reads(on);
    await until(() => server.output().includes('audit: the head is noted elsewhere again'), 'the end of it');
    const output = server.output();
    expect(output.match(/cannot be noted elsewhere/g)).toHaveLength(1);
    expect(output).toContain(there.origin);
    expect(output).toContain(reason);
    expect(output).not.toContain(SECRET);
    expect(there.requests.every(({ url }) => url.startsWith(`/${SECRET}`))).toBe(true);
  });

  it('keep at most one request open if the place never answers, and do not delay the end of the server', async () => {
    await using place = await setPlace();
    const { file, configure } = place;
    await using there = await receiver(() => {});
    const server = await startHttp([await configure(placeOf(there))]);
    await using on = await connectHttp('modern', server);
    await until(() => there.requests.length === 1, 'a request');
    await reads(on, 20);
    expect(there.most()).toBe(1);
    await on.close();
    expect(await server.stop()).toBe(0);
    expect((await linesOf(file)).at(-1)?.event).toBe('end');
  });

  it('are not sent if nobody listens; the log says so, and reads go on', async () => {
    await using place = await setPlace();
    const { configure } = place;
    const there = await receiver(() => {});
    const config = await configure(placeOf(there));
    await there[Symbol.asyncDispose]();
    await using server = await startHttp([config]);
    await using on = await connectHttp('modern', server);
    await until(() => server.output().includes('ECONNREFUSED'), 'the log');
    await reads(on);
    expect(server.output()).not.toContain(SECRET);
  });

  it('have headers from the environment', async () => {
    await using place = await setPlace();
    const { configure } = place;
    await using there = await receiver((response) => response.writeHead(200).end());
    process.env.VITRINE_TEST_HOOK = SECRET;
    try {
      const anchor = {
        to: `${there.origin}/\${VITRINE_TEST_HOOK}`,
        headers: { 'x-key': `\${VITRINE_TEST_HOOK}` },
        everySeconds: 1,
      };
      await using _server = await startHttp([await configure(anchor)]);
      await until(() => there.requests.length > 0, 'a head');
      expect(there.requests[0]).toMatchObject({ url: `/${SECRET}`, headers: { 'x-key': SECRET } });
    } finally {
      delete process.env.VITRINE_TEST_HOOK;
    }
  });
});

describe.concurrent('heads on standard error', () => {
  it('are found among lines of the log, and match', async () => {
    await using place = await setPlace();
    const { anchors, configure, verify } = place;
    const on = await connectToProgram('stdio', 'modern', [await configure('-')]);
    await reads(on);
    await on.close();
    await until(() => on.stderr().includes('{"anchor":1,'), 'a head');
    await writeFile(anchors, on.stderr());
    expect(await verify('--anchor', anchors)).toEqual([0, expect.stringMatching(/^ok /)]);
  });
});

describe.concurrent('a place for heads', () => {
  it.each<[unknown, object, string]>([
    [`https://ada:${SECRET}@hooks.example/`, {}, 'has a user or a password in it; say them in headers'],
    [`ftp://hooks.example/${SECRET}`, {}, 'is not an http: or https: URL'],
    [`http://[::bad/${SECRET}`, {}, 'is not an http: or https: URL'],
    ['audit.jsonl', {}, 'in another place than the audit itself'],
    [{ to: 'heads.jsonl', headers: { authorization: SECRET } }, {}, 'only a URL takes headers'],
    ['heads.jsonl', { file: '-' }, 'each process has a chain of its own'],
    [{ to: 'heads.jsonl', everySeconds: 0 }, {}, 'everySeconds'],
  ])('%j is refused', async (anchor, audit, said) => {
    await using place = await setPlace();
    const { configure } = place;
    const { status, stderr } = await vitrine(['serve', await configure(anchor, audit)]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(said)]);
    expect(stderr).not.toContain(SECRET);
  });
});
