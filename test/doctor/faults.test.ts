/** Each check of the doctor finds its mistake, and finds nothing in a good server. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CHECKS } from '../../src/cli/client/doctor/checks/index.ts';
import { type DiagnoseOptions, type Diagnosis, diagnose } from '../../src/cli/client/doctor/diagnose.ts';
import { ROOT } from '../e2e/harness.ts';
import { ELSEWHERE, PLANTED } from './faults.ts';
import { type Fault, serveGood } from './good.ts';
import { answers, result } from './planting.ts';

const PIPES = fileURLToPath(new URL('pipes.mjs', import.meta.url));

/** Checks a server with one fault. The doctor has a token, for servers that require one. */
async function examined(fault: Fault | undefined, options: DiagnoseOptions = {}): Promise<Diagnosis> {
  await using server = await serveGood(fault);
  const target = { url: server.url, headers: { authorization: 'Bearer secret' } };
  return await diagnose(target, { callTools: true, timeoutMs: 20_000, ...options });
}

const problemsIn = ({ results }: Diagnosis) =>
  results.filter(({ status }) => status === 'problem').map(({ id, level, era, saw }) => ({ id, level, era, saw }));

describe('the doctor', () => {
  it('finds nothing in a good server, to which every check applies', async () => {
    const diagnosis = await examined(undefined);
    expect(problemsIn(diagnosis)).toEqual([]);
    expect(diagnosis.eras.map(({ era, version }) => [era, version])).toEqual([
      ['legacy', '2025-11-25'],
      ['modern', '2026-07-28'],
    ]);
    expect(diagnosis.server).toEqual({ name: 'good', version: '1' });
    const applied = new Set(diagnosis.results.filter(({ status }) => status === 'ok').map(({ id }) => id));
    const not = CHECKS.map(({ id }) => id).filter((id) => !applied.has(id));
    expect(not.sort()).toEqual(
      ['http-authorization', 'stdin-end', 'stdio-garbage', 'stdout-pure', 'subscribe-undeclared'].sort(),
    );
  });

  it('accepts metadata with keys in any order', async () => {
    const turned = (value: unknown): unknown =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value)
              .map(([key, inner]) => [key, turned(inner)])
              .toReversed(),
          )
        : value;
    const answer = answers({ 'resources/metadata': (_, { resource }) => result({ resource: turned(resource) }) });
    expect(problemsIn(await examined({ answer }, { only: ['metadata-agrees'] }))).toEqual([]);
  });

  it.each([
    ['no skill is listed', [], 'No skills are listed'],
    ['no listed skill follows the rules', [{ uri: 'skill://x' }], 'None of the listed skills follows the rules'],
  ])('says why checks of skills do not apply if %s', async (_, skills, why) => {
    const answer = answers({ 'skills/list': (_params, usual) => result({ ...usual, skills }) });
    const { results } = await examined({ answer }, { only: ['skill-get', 'skill-files'], eras: ['modern'] });
    expect(results.map(({ id, status, saw }) => [id, status, saw])).toEqual([
      ['skill-get', 'not-applicable', [why]],
      ['skill-files', 'not-applicable', [why]],
    ]);
  });

  it.each(PLANTED)('$check finds $fault: $level', async ({ check, level, era, plant }) => {
    const eras = era === undefined ? (['legacy', 'modern'] as const) : [era];
    const diagnosis = await examined(plant, { only: [check], eras });
    expect(problemsIn(diagnosis).map(({ id, level: found, era: where }) => [id, found, where])).toEqual(
      eras.map((each) => [check, level, each]),
    );
    for (const { saw, mend } of diagnosis.results) {
      expect(saw.length).toBeGreaterThan(0);
      expect(mend).toMatch(/\.$/);
    }
  });

  it('has a row in the documentation for each check', async () => {
    const page = await readFile(join(ROOT, 'docs/guide/doctor.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `([a-z0-9-]+)` +\| (error|warning) /gm)].map(([, id, level]) => [id, level]);
    expect(rows).toEqual(CHECKS.map(({ id, level }) => [id, level]));
  });

  it('has a fault for each check', () => {
    const proved = new Set([...PLANTED.map(({ check }) => check), ...ELSEWHERE]);
    expect(CHECKS.map(({ id }) => id).filter((id) => !proved.has(id))).toEqual([]);
    expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length);
  });

  it.each([
    ['nothing', 'good', []],
    ['a log on standard output', 'logs', ['stdout-pure']],
    ['an end at the first line that is not a message', 'dies', ['stdio-garbage']],
    ['no end when standard input ends', 'stays', ['stdin-end']],
  ])('over stdio it finds %s', async (_what, fault, found) => {
    const target = { command: process.execPath, args: [PIPES, fault] };
    // A program that does not end by itself gets little time.
    const diagnosis = await diagnose(target, { timeoutMs: 20_000, endMs: fault === 'stays' ? 100 : 20_000 });
    expect(problemsIn(diagnosis).map(({ id }) => id)).toEqual(found);
    expect(diagnosis.eras[1]?.refused).toContain('-32601');
  });

  it.concurrent.each([
    [undefined, 'There was no answer in 5 s'],
    [['legacy', 'modern'] as const, '-32601'],
  ])('waits longer for the second era if it is wanted: %j', async (eras, refused) => {
    const target = { command: process.execPath, args: [PIPES, 'slow'] };
    const diagnosis = await diagnose(target, { eras, only: ['stdout-pure'] });
    expect(diagnosis.eras[1]?.refused).toContain(refused);
  });

  it('says why there is no connection', async () => {
    const { eras, results, said } = await diagnose({
      command: process.execPath,
      args: ['-e', 'console.error("no key")'],
    });
    expect(eras.map(({ refused }) => refused)).toEqual([
      expect.stringContaining('has ended'),
      expect.stringContaining('has ended'),
    ]);
    expect(results).toEqual([]);
    expect(said).toBe('no key\n');
  });

  it('calls tools only with callTools', async () => {
    for (const callTools of [false, true]) {
      await using server = await serveGood();
      const { results } = await diagnose(
        { url: server.url },
        { callTools, skip: ['http-oversized'], eras: ['legacy'] },
      );
      expect(results.length).toBeGreaterThan(40);
      expect(server.asked.includes('tools/call')).toBe(callTools);
    }
  });

  it('ends when its signal is aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const onCheck = () => controller.abort(reason);
    await using server = await serveGood();
    await expect(diagnose({ url: server.url }, { signal: controller.signal, onCheck })).rejects.toBe(reason);
  });
});
