/** `vitrine doctor`: the report, and the status for CI. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { serveGood } from '../../doctor/good.ts';
import { run } from './run.ts';

const PIPES = fileURLToPath(new URL('../../doctor/pipes.mjs', import.meta.url));
const QUICK = ['--skip', 'http-oversized'] as const;
const HTTP_ONLY = ['--check', 'http-origin', '--check', 'http-host'] as const;

describe('doctor', () => {
  it('says that nothing is wrong', async () => {
    await using server = await serveGood();
    const { status, stdout, stderr } = await run(['doctor', server.url, ...QUICK]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(
      /^good 1 over HTTP\n {2}speaks 2025-11-25\n {2}speaks 2026-07-28\n\n0 errors, 0 warnings; \d+ passed, \d+ do not apply\n$/,
    );
    const all = await run(['doctor', server.url, '--verbose', '--check', 'readable', '--era', '2026', '--sample', '1']);
    expect(all.stdout).toContain('Resources\n  ok       readable (2026-07-28): 1 of 3 were read\n');
  });

  it('prints what it saw, what to do, and the clause; fails for errors, and for warnings with --strict', async () => {
    await using server = await serveGood({ leaves: ['media-type', 'origin'] });
    const { status, stdout } = await run(['doctor', server.url, ...HTTP_ONLY, '--check', 'http-media-type']);
    expect(status).toBe(1);
    expect(stdout).toContain(
      '  error    http-origin (2025-11-25, 2026-07-28): Requests from web pages of other origins are refused\n' +
        '           seen  With Origin: https://vitrine-doctor.invalid: HTTP 200',
    );
    expect(stdout).toContain('           do    Answer 415:');
    expect(stdout).toMatch(/\n2 errors, 2 warnings; /);
    const only = ['doctor', server.url, '--check', 'http-media-type'];
    expect((await run(only)).status).toBe(0);
    expect((await run([...only, '--strict'])).status).toBe(1);
  });

  it('prints JSON, and JSON lines with the summary last', async () => {
    await using server = await serveGood({ leaves: ['origin'] });
    const document = JSON.parse((await run(['doctor', server.url, ...HTTP_ONLY, '--json'])).stdout);
    expect(document).toMatchObject({
      server: { name: 'good', version: '1' },
      transport: 'http',
      errors: 2,
      warnings: 0,
    });
    expect(document.results.filter(({ status }: { status: string }) => status === 'problem')).toMatchObject([
      { id: 'http-origin', era: 'legacy', level: 'error', count: 1 },
      { id: 'http-origin', era: 'modern', level: 'error', count: 1 },
    ]);
    const { stdout } = await run(['doctor', server.url, ...HTTP_ONLY, '--jsonl']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(document.results.length + 1);
    expect(lines.at(-1)).toMatchObject({ report: { errors: 2 } });
  });

  it('prints nothing that a terminal acts on, whatever the server sends, and no secrets', async () => {
    await using server = await serveGood({
      answer: (method, _params, usual) =>
        method === 'vitrine/no-such-method' ? { result: { '\u001b[2Jan-odd-token-of-mine': 1 } } : usual(),
    });
    const args = ['doctor', server.url, '--check', 'unknown-method', '--bearer', '$'.concat('{ODD_TOKEN}')];
    const { stdout } = await run(args, { ODD_TOKEN: 'an-odd-token-of-mine' });
    expect(stdout).toContain('unknown-method');
    expect(stdout).not.toContain('\u001b');
    expect(stdout).not.toContain('an-odd-token-of-mine');
  });

  it('says that nothing listens', async () => {
    const server = await serveGood();
    await server[Symbol.asyncDispose]();
    const { status, stderr } = await run(['doctor', server.url]);
    expect(stderr).toContain('ECONNREFUSED');
    expect(status).toBe(5);
  });

  it('starts a program, and ends it', async () => {
    const { status, stdout } = await run(['doctor', `"${process.execPath}" "${PIPES}" logs`, '--era', '2025']);
    expect(status).toBe(1);
    expect(stdout).toContain('seen  1 line(s), the first: Server is running');
  });

  it.each([
    [
      ['doctor', `"${process.execPath}" -e "console.error('no key');process.exit(3)"`],
      5,
      'has ended with 3; it said: no key',
    ],
    [['doctor', 'https://x.invalid/mcp', '--check', 'none'], 2, 'no check "none"'],
    [['doctor', 'https://x.invalid/mcp', '--era', '1999'], 2, '--era'],
  ])('%j ends with status %i, and says why', async (args, status, word) => {
    const outcome = await run(args);
    expect(outcome.stderr).toContain(word);
    expect(outcome).toMatchObject({ status, stdout: '' });
  });
});
