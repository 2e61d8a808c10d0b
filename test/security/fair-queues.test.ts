/** Principals share scarce resources fairly: many requests of one do not delay the small reads of another. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAlternatives } from '../../src/layers/alternatives/index.ts';
import { mimeLayer } from '../../src/layers/mime/index.ts';
import { createRedaction } from '../../src/layers/redact/index.ts';
import { commandProvider } from '../../src/providers/command/index.ts';
import { gitProvider } from '../../src/providers/git/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { ERAS } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { NO_PLACE, neighbours, textOf } from './neighbours.ts';

const TOKEN = `ghp_${'a1B2c3D4'.repeat(4)}e5F6`;

const run = promisify(execFile);

const many = (uri: string, count: number): readonly string[] => Array.from({ length: count }, () => uri);

const PROGRAMS = {
  'hang-{n}': { argv: ['sleep', '10{n}'], variables: { n: '[0-9]+' } },
  'small.txt': ['echo', 'small'],
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-fair-'));
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

describe.each(ERAS)('%s', (era) => {
  it('40 reads of a file full of tokens: a redacted read of another principal is answered meanwhile', async () => {
    const redaction = createRedaction();
    const files = memoryProvider({
      resources: { 'full.txt': { text: `${TOKEN}\n`.repeat(10_000) }, 'small.txt': { text: `key ${TOKEN} end` } },
    });
    try {
      await using on = await neighbours(era, redaction.layer(files));
      const flood = await on.flood(many('memory:///full.txt', 40));
      const small = await on.bob('resources/read', { uri: 'memory:///small.txt' });
      const looked = flood.answered.filter(({ error }) => error === undefined);
      expect(textOf(small)).toMatch(/^key \[redacted.* end$/);
      // In order of arrival, all of the 40 would have been answered before the small one.
      expect(looked.length).toBeLessThan(40);
      await redaction.close();
    } finally {
      await redaction.close();
    }
  });

  it('conversions that hang: a document of another principal is converted meanwhile', async () => {
    const program = join(folder, `program-${era}.mjs`);
    await writeFile(
      program,
      `export function serveConversions() {
         process.on('message', ({ id, bytes }) => {
           const text = Buffer.from(bytes).toString();
           if (!text.includes('hang')) process.send({ id, format: 'made of ' + text, usedBytes: 0 });
         });
         process.on('disconnect', () => process.exit());
       }`,
    );
    const alternatives = createAlternatives({ timeoutMs: 60_000 }, { program: pathToFileURL(program) });
    const documents = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [`hang-${n}.pdf`, { text: `%PDF-1.7\nhang ${n}` }]),
    );
    const files = memoryProvider({ resources: { ...documents, 'good.pdf': { text: '%PDF-1.7\ngood' } } });
    try {
      await using on = await neighbours(era, alternatives.layer(mimeLayer()(files)));
      const flood = await on.flood(Object.keys(documents).map((name) => `memory:///${name}`));
      // Ann's read of the same document, which waits, does not delay Bob's.
      void on.flood(['memory:///good.pdf']);
      expect(textOf(await on.bob('resources/read', { uri: 'memory:///good.pdf' }))).toContain('made of');
      expect(flood.answered).toEqual([]);
      await alternatives.close();
    } finally {
      await alternatives.close();
    }
  });

  it('programs that hang: another program runs meanwhile, even one that was already waiting for its turn', async () => {
    await using on = await neighbours(era, await commandProvider({ run: PROGRAMS, timeoutSeconds: 100 }));
    const flood = await on.flood(Array.from({ length: 30 }, (_, n) => `command:///hang-${n}`));
    void on.flood(['command:///small.txt']);
    expect(textOf(await on.bob('resources/read', { uri: 'command:///small.txt' }))).toBe('small\n');
    expect(flood.answered).toEqual([]);
  });

  it('git commands that hang: another one runs meanwhile', async () => {
    const path = join(folder, `repository-${era}`);
    await makeRepository(path);
    const program = join(folder, `git-${era}`);
    // This program hangs at a blame, as git works at a blame of a long history until its time limit.
    const gate = join(folder, `gate-${era}`);
    await writeFile(gate, '');
    const held = `case " $* " in *" blame "*) while [ -e '${gate}' ]; do sleep 0.1; done ;; esac`;
    await writeFile(program, `#!/bin/sh\n${held}\nexec git "$@"\n`, { mode: 0o755 });
    await using on = await neighbours(era, await gitProvider({ path, program, timeoutSeconds: 60 }));
    const flood = await on.flood(many('git:///blame/HEAD/a.txt', 20));
    expect(textOf(await on.bob('resources/read', { uri: 'git:///diff/HEAD' }))).toContain('+one');
    expect(flood.answered).toEqual([]);
    await rm(gate);
  });

  it('a request that finds too many waiting is told so, and when to try again', async () => {
    await using on = await neighbours(era, await commandProvider({ run: PROGRAMS, timeoutSeconds: 100 }));
    const flood = await on.flood(Array.from({ length: 100 }, (_, n) => `command:///hang-${n}`));
    // Three run, and a quarter of the 256 places of the queue is taken.
    await until(() => flood.answered.length === 100 - 3 - 64, 'the others to be refused');
    for (const { error } of flood.answered) expect(error).toMatchObject(NO_PLACE('maxConcurrent'));
    expect(textOf(await on.bob('resources/read', { uri: 'command:///small.txt' }))).toBe('small\n');
  });
});

/** A repository of one commit, with one file. */
async function makeRepository(path: string): Promise<void> {
  const git = (...args: string[]) =>
    run('git', ['-C', path, '-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args]);
  await mkdir(path);
  await git('init', '--quiet');
  await writeFile(join(path, 'a.txt'), 'one\n');
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'First');
}
