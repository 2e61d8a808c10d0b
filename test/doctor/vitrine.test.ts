/** The doctor finds nothing in a Vitrine: in either era, over stdio and over HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Diagnosis, diagnose } from '../../src/cli/client/doctor/diagnose.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { CLI, type Listening, MUSEUM_CONFIG, ROOT, startHttp, TRANSPORTS, type TransportKind } from '../e2e/harness.ts';

const diagnoses = new Map<TransportKind, Diagnosis>();

let listening: Listening;
beforeAll(async () => {
  listening = await startHttp(['--config', MUSEUM_CONFIG]);
  const options = { callTools: true, sample: 8, timeoutMs: 60_000, endMs: 60_000 };
  const program = { command: process.execPath, args: [CLI, 'serve', '--config', MUSEUM_CONFIG], cwd: ROOT };
  const [http, stdio] = await Promise.all([diagnose({ url: listening.url }, options), diagnose(program, options)]);
  diagnoses.set('http', http).set('stdio', stdio);
}, 180_000);
afterAll(() => listening.stop());

describe.each(TRANSPORTS)('over %s', (transport) => {
  it('the doctor finds nothing in either era', () => {
    const { eras, results } = diagnoses.get(transport) as Diagnosis;
    expect(eras).toEqual([
      { era: 'legacy', version: '2025-11-25' },
      { era: 'modern', version: '2026-07-28' },
    ]);
    expect(results.filter(({ status }) => status === 'problem')).toEqual([]);
    const not = [...new Set(results.filter(({ status }) => status === 'not-applicable').map(({ id }) => id))];
    // Checks that do not apply are reported.
    expect(not.sort()).toEqual(
      [
        'base64-valid',
        'prompt-get',
        'subscribe-undeclared',
        ...(transport === 'http' ? ['http-authorization'] : []),
      ].sort(),
    );
  });
});

it('the doctor finds nothing wrong with files that are too large for one answer, or too short to have a type', async () => {
  await using folder = await temporaryFolder({
    'large.bin': new Uint8Array(8 * 1024 * 1024).fill(0x80),
    'large.txt': 'wound every Monday\n'.repeat(500_000),
    'two.bin': new Uint8Array([0, 1]),
    two: new Uint8Array([0x80, 1]),
    'four.ttf.bak': new Uint8Array([0, 1, 0, 0]),
  });
  await using server = await startHttp([folder.path]);
  const { results } = await diagnose(
    { url: server.url },
    { callTools: false, sample: 8, timeoutMs: 60_000, endMs: 60_000 },
  );
  expect(results.filter(({ status }) => status === 'problem')).toEqual([]);
});
