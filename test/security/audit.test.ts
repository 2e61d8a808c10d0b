/** The audit over the wire, over kills and restarts. It contains nothing private. */
import { appendFile, readFile, symlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { verifyAudit } from '../../src/layers/audit/verify.ts';
import { vitrine } from '../cli/here.ts';
import { failure, read } from '../e2e/answers.ts';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { CLI, type Connected, connectHttp, MATRIX } from '../e2e/harness.ts';
import { subscribe } from '../e2e/notices.ts';
import { connectToProgram, startProgram } from '../e2e/programs.ts';
import { until } from '../e2e/waiting.ts';
import { type Line, linesOf } from './audit-lines.ts';

const SECRET = 'xK7-argument-that-is-private';
const CONTENT = 'content that is private';

async function scene(audit: object = {}): Promise<{ folder: Folder; config: string; file: string }> {
  const folder = await temporaryFolder({
    'docs/a.txt': CONTENT,
    'docs/guarded.txt': CONTENT,
    'docs/big.bin': new Uint8Array(300_000).fill(1),
    'prompts/greet.md': '---\narguments:\n  - name: who\n---\nHello {{who}}\n',
  });
  const config = await writeConfig(folder, {
    mounts: { docs: './docs' },
    prompts: './prompts',
    confirm: ['docs+file:///guarded.txt'],
    audit: { file: 'audit.jsonl', ...audit },
  });
  return { folder, config, file: folder.at('audit.jsonl') };
}

const allLinesOf = async (file: string): Promise<Line[]> => {
  const { files } = await verifyAudit(file);
  return (await Promise.all(files.map(linesOf))).flat();
};

describe.each(MATRIX)('the audit over $transport in the $era era', ({ transport, era }) => {
  it('has a line for each operation, and no private data [RES-9]', async () => {
    const { folder, config, file } = await scene();
    await using _ = folder;
    const on = await connectToProgram(transport, era, [config]);
    const a = 'docs+file:///a.txt';
    const forged = 'docs+file:///x\u2028\u202e%0A{"audit":1}\u001b[2J';
    try {
      await on.request('resources/list', { uri: 'docs+file:///' });
      await on.request('resources/metadata', { uri: a });
      await read(on, a);
      await read(on, 'docs+file:///big.bin', { offset: 10, length: 100 });
      await failure(read(on, 'docs+file:///missing.txt'));
      await failure(read(on, 'docs+file:///guarded.txt'));
      await failure(read(on, 'nowhere:x'));
      await failure(on.request('resources/metadata', { uri: forged }));
      await on.request('resources/templates/list');
      await on.request('completion/complete', {
        ref: { type: 'ref/resource', uri: 'docs+file:///{+path}' },
        argument: { name: 'path', value: SECRET },
      });
      await on.request('completion/complete', {
        ref: { type: 'ref/prompt', name: 'greet' },
        argument: { name: 'who', value: SECRET },
      });
      await subscribe(on, [a]);
      await on.request('tools/list');
      await on.request('tools/call', { name: 'search', arguments: { pattern: SECRET } });
      await on.request('tools/call', { name: 'read', arguments: { uri: 'docs+file:///missing.txt' } });
      await failure(on.request('tools/call', { name: 'no\ntool', arguments: { secret: SECRET } }));
      await on.request('prompts/list');
      await on.request('prompts/get', { name: 'greet', arguments: { who: SECRET } });
      await failure(on.request('prompts/get', { name: 'nobody' }));
    } finally {
      await on.close();
    }
    await until(async () => (await linesOf(file)).at(-1)?.event === 'end', 'the end of the audit');

    const lines = await linesOf(file);
    const operations = lines.filter(({ method }) => method !== undefined);
    for (const line of operations) {
      expect(line).toMatchObject({
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        requestId: expect.any(String),
        principal: 'anonymous',
        peer: expect.any(String),
        decision: line.method === 'read' && line.uri === 'docs+file:///guarded.txt' ? 'ask' : 'allow',
        ms: expect.any(Number),
        outcome: expect.any(String),
      });
    }
    const said = operations.map(({ method, uri, name, mount, bytes, outcome }) =>
      [method, uri ?? name ?? '', mount ?? '', bytes ?? '', outcome].join(' ').trim(),
    );
    for (const expected of [
      'list docs+file:/// docs  ok',
      `metadata ${a} docs  ok`,
      `read ${a} docs ${CONTENT.length} ok`,
      'read docs+file:///big.bin docs 100 ok',
      'read docs+file:///missing.txt docs  not-found',
      'read docs+file:///guarded.txt docs  denied',
      'read nowhere:x   not-found',
      `metadata ${forged} docs  invalid`,
      'templates    ok',
      'complete docs+file:///{+path} docs  ok',
      'prompts/complete greet   ok',
      `subscribe ${a} docs  ok`,
      `watch ${a} docs  ok`,
      'tools/list    ok',
      'tools/call search   ok',
      'search    ok',
      'tools/call read   failed',
      'tools/call no\ntool   invalid',
      'prompts/list    ok',
      'prompts/get greet   ok',
      'prompts/get nobody   invalid',
    ])
      expect(said).toContain(expected);

    const text = await readFile(file, 'utf8');
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(CONTENT);
    expect(text).toMatch(/^[\n\u0020-\u007e]+$/);
    expect(await vitrine(['audit', 'verify', file])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`ok  ${lines.length} lines in 1 file`),
    });
  });
});

describe('the audit of a server', () => {
  /** Reads as fast as possible until the server ends, or the test stops it. */
  async function load(on: Connected, count = Number.POSITIVE_INFINITY): Promise<number> {
    let answered = 0;
    const one = async (): Promise<void> => {
      while (answered < count) {
        await read(on, 'docs+file:///a.txt');
        answered++;
      }
    };
    await Promise.allSettled(Array.from({ length: 8 }, one));
    return answered;
  }

  it('is complete after kill -9 under load, up to the last line, and goes on after a restart', async () => {
    const { folder, config, file } = await scene();
    await using _ = folder;
    const server = await startProgram([config]);
    const on = await connectHttp('modern', server);
    const loading = load(on);
    await until(async () => (await linesOf(file)).length > 200, 'two hundred lines');
    await server.stop('SIGKILL');
    await loading;
    await on.close();

    // At most one line may have been in progress.
    const killed = await verifyAudit(file);
    expect(killed.findings.filter(({ problem }) => problem !== 'the line is cut short')).toEqual([]);
    expect(killed.lines).toBeGreaterThan(200);
    await appendFile(file, '{"audit":1,"seq":');
    expect((await vitrine(['audit', 'verify', file])).status).toBe(1);

    const again = await startProgram([config]);
    await again.stop();
    const { status, stdout } = await vitrine(['audit', 'verify', file]);
    expect([status, stdout]).toEqual([0, expect.stringContaining('ok  ')]);
    const lines = await linesOf(file);
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_line, index) => index + 1));
    expect(
      lines.filter(({ event }) => event !== undefined).map(({ event, cut }) => [event, cut !== undefined]),
    ).toEqual([
      ['start', false],
      ['start', true],
      ['end', false],
    ]);
  });

  it('is spread over a bounded number of files under load as one chain, in which a changed line is found', async () => {
    const { folder, config, file } = await scene({ maxBytes: 20_000, maxFiles: 4 });
    await using _ = folder;
    const on = await connectToProgram('stdio', 'legacy', [config]);
    const answered = await load(on, 500);
    await on.close();
    await until(async () => (await linesOf(file)).at(-1)?.event === 'end', 'the end of the audit');

    expect(answered).toBeGreaterThanOrEqual(500);
    const report = await verifyAudit(file);
    expect(report).toMatchObject({ findings: [], lost: 0 });
    expect(report.files).toHaveLength(4);
    expect(report.last?.seq).toBeGreaterThan(500);
    for (const each of report.files) expect((await readFile(each)).byteLength).toBeLessThanOrEqual(20_000);
    const lines = await allLinesOf(file);
    expect(lines.at(-1)?.seq).toBe((report.first?.seq ?? 0) + lines.length - 1);

    const older = report.files[1] ?? '';
    const text = await readFile(older, 'utf8');
    await folder.write('audit.jsonl.2', text.replace('"outcome":"ok"', '"outcome":"no"'));
    const { status, stdout } = await vitrine(['audit', 'verify', file]);
    expect([status, stdout]).toEqual([
      1,
      expect.stringMatching(/^\S+audit\.jsonl\.2:\d+: line \d+ of the audit was changed/),
    ]);
  });

  it('is written by one server at a time', async () => {
    const { folder } = await scene();
    await using _ = folder;
    // The refused command has started the mounted program by then. That program must not keep the command running.
    const config = await writeConfig(folder, {
      mounts: { docs: './docs', other: { command: process.execPath, args: [CLI, 'serve', folder.at('docs')] } },
      audit: { file: 'audit.jsonl' },
    });
    await using _server = await startProgram([config]);
    const { status, stderr } = await vitrine(['serve', config]);
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^vitrine: The audit file \S+ is being written by process \d+/),
    ]);
  });

  it('is not begun in a file with other content', async () => {
    const { folder, config, file } = await scene();
    await using _ = folder;
    await folder.write('audit.jsonl', 'my diary\n');
    const { status, stderr } = await vitrine(['serve', config]);
    expect([status, stderr]).toEqual([2, expect.stringContaining('does not end with a line of an audit')]);
    expect(await readFile(file, 'utf8')).toBe('my diary\n');
  });

  it('stops no read while the disk is full, and the log says that lines are waiting', async () => {
    const { folder, config, file } = await scene();
    await using _ = folder;
    await symlink('/dev/full', file);
    const on = await connectToProgram('stdio', 'modern', [config, '--log-level', 'error']);
    try {
      expect(await load(on, 100)).toBeGreaterThanOrEqual(100);
      await until(() => on.stderr().includes('audit: lines cannot be written, and wait'), 'the log');
    } finally {
      await on.close();
    }
  });

  it('goes to standard error, where its lines can be told from log lines', async () => {
    const { folder, config } = await scene({ file: '-' });
    await using _ = folder;
    const on = await connectToProgram('stdio', 'modern', [config]);
    await read(on, 'docs+file:///a.txt');
    await until(() => on.stderr().includes('"method":"read"'), 'the line of the read');
    await on.close();
    expect(on.stderr()).toMatch(/^\{"audit":1,"seq":1,/);
  });

  it('is not changed by `vitrine check`', async () => {
    const { folder, config, file } = await scene();
    await using _ = folder;
    expect((await vitrine(['check', config])).status).toBe(0);
    await expect(readFile(file)).rejects.toThrow('ENOENT');
  });
});
