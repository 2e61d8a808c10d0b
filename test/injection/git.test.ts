/**
 * Names with which callers made servers of git repositories run something else (CVE-2025-68143, -68144, -68145, CVE-2026-27735, and
 * those of git's own front ends), in every parameter of a caller. Each is a missing name, or refused, and git gets it only where a name
 * or a pattern is the only possible meaning.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../src/core/context.ts';
import type { ResourceProvider } from '../../src/core/provider.ts';
import { segmentOf, toBytes } from '../../src/providers/git/names.ts';
import { codeOf, type Scene, scene } from '../../src/testing/git-scene.ts';

const CANARY = 'CANARY';

const ATTACKS: readonly string[] = [
  `--output=${CANARY}`,
  `-o${CANARY}`,
  '-O/etc/passwd',
  `--upload-pack=touch ${CANARY}`,
  `--exec=touch ${CANARY}`,
  `--open-files-in-pager=touch ${CANARY}`,
  `-Otouch ${CANARY}`,
  '--no-index',
  '--contents=/etc/passwd',
  '--ignore-revs-file=/etc/passwd',
  '--git-dir=/',
  '-c core.pager=id',
  '--all',
  '--not',
  '--stdin',
  '--help',
  '-',
  '--',
  'main..HEAD',
  'main...HEAD',
  '^main',
  ':/Secret',
  ':/',
  'HEAD@{1}',
  '@{-1}',
  '@{upstream}',
  '@',
  'main~1',
  'main^',
  'main^{/Secret}',
  'main^{tree}',
  'HEAD:secret.txt',
  ':0:secret.txt',
  'refs/heads/main',
  'heads/main',
  'FETCH_HEAD',
  'ORIG_HEAD',
  '../../../../etc/passwd',
  '..',
  '.',
  '.git/config',
  '../config',
  ':(exclude)*',
  ':!a.txt',
  ':(glob)**',
  '*',
  '[a]*',
  `x;touch ${CANARY}`,
  `$(touch ${CANARY})`,
  `\`touch ${CANARY}\``,
  `|touch ${CANARY}`,
  `x\ntouch ${CANARY}`,
  'main\nHEAD',
  'main\0HEAD',
  `ext::sh -c touch% ${CANARY}`,
  'file:///etc/passwd',
  '%2e%2e%2fconfig',
];

const PLACES: readonly string[] = [
  'branches/X',
  'branches/X/a.txt',
  'tags/X',
  'commits/X',
  'HEAD/X',
  'commit/branches/X',
  'commit/commits/X',
  'log/HEAD/X',
  'log/tags/X',
  'blame/HEAD/X',
  'diff/HEAD/X',
  'diff/branches/X',
  'compare/HEAD/branches/X',
  'compare/tags/X/HEAD',
  'compare/HEAD/HEAD/X',
];

/** The provider itself gives these words to git. */
const OWN: ReadonlySet<string> = new Set(['--', '--stdin']);

const ctx = createContext();
const REFUSED = ['not-found', 'invalid'];

describe('text of callers', () => {
  let place: Scene;
  let provider: ResourceProvider;
  let calls = '';
  let hidden = '';

  beforeAll(async () => {
    place = await scene();
    await place.write('secret.txt', 'Secret\n');
    hidden = place.commit('Secret');
    place.git('update-ref', '-d', 'HEAD');
    place.git('rm', '-q', '--cached', 'secret.txt');
    await place.write('.git/info-exclude', '');
    place.git('rm', '-q', '--cached', '-r', '--ignore-unmatch', '.');
    await writeFile(join(place.directory, 'a.txt'), 'one\n');
    place.git('add', 'a.txt');
    place.git('commit', '--quiet', '-m', 'First');
    calls = join(place.directory, '.git', 'calls');
    const program = join(place.directory, '.git', 'program');
    await writeFile(program, `#!/bin/sh\nfor each; do printf '%s\\0' "$each" >> ${calls}; done\nexec git "$@"\n`, {
      mode: 0o755,
    });
    provider = await place.open({ program });
  });
  afterAll(() => place[Symbol.asyncDispose]());

  /** Gives the arguments that git got. */
  const told = async (): Promise<string[]> => (await readFile(calls, 'utf8')).split('\0');

  it.each(ATTACKS)('%j is no revision and no path, in any spelling [SEC-RES-5]', async (attack) => {
    const spellings = new Set([
      encodeURIComponent(segmentOf(toBytes(attack))),
      encodeURIComponent(attack),
      attack.split('/').map(encodeURIComponent).join('/'),
    ]);
    for (const spelling of spellings) {
      for (const where of PLACES) {
        const uri = `git:///${where.replace('X', () => spelling)}`;
        const codes = await Promise.all([
          codeOf(provider.metadata(uri, ctx)),
          codeOf(provider.list(uri, { limit: 5 }, ctx)),
          codeOf(provider.read(uri, { maxBytes: 1_000, maxChildren: 5 }, ctx)),
        ]);
        expect([uri, codes.filter((code) => !REFUSED.includes(code))]).toEqual([uri, []]);
      }
    }
    if (!OWN.has(attack)) expect(await told()).not.toContain(attack);
    expect(existsSync(join(place.directory, CANARY))).toBe(false);
  });

  it('leads to no removed commit, by its hash, the beginning of the hash, or a name that ends in it', async () => {
    for (const word of [hidden, hidden.slice(0, 12), hidden.toUpperCase(), `v1-1-g${hidden.slice(0, 12)}`])
      for (const where of ['commits/X/secret.txt', 'branches/X', 'tags/X', 'commit/commits/X']) {
        const uri = `git:///${where.replace('X', word)}`;
        expect([uri, REFUSED.includes(await codeOf(provider.metadata(uri, ctx)))]).toEqual([uri, true]);
      }
  });

  it('in cursors, completions and patterns is only text', async () => {
    for (const attack of ATTACKS) {
      for (const uri of ['git:///HEAD', 'git:///branches', 'git:///commits', 'git:///log/HEAD/a.txt'])
        expect(['invalid', 'nothing was refused']).toContain(
          await codeOf(provider.list(uri, { limit: 5, cursor: attack }, ctx)),
        );
      for (const [uriTemplate, variable] of [
        ['git:///branches/{branch}/{+path}', 'branch'],
        ['git:///commits/{commit}/{+path}', 'commit'],
        ['git:///HEAD/{+path}', 'path'],
      ] as const) {
        const request = { uriTemplate, variable, value: attack, known: {}, limit: 5 };
        expect((await provider.complete?.(request, ctx))?.values).toEqual([]);
      }
    }
    const searches = ATTACKS.filter((attack) => !/[\0\n]/.test(attack) && attack.startsWith('-')).slice(0, 8);
    for (const pattern of searches) {
      for await (const match of provider.search?.({ pattern, literal: true }, ctx) ?? []) expect(match).toBeUndefined();
    }
    const words = await told();
    for (const [index, word] of words.entries())
      if (ATTACKS.includes(word) && !OWN.has(word)) expect([word, words[index - 1]]).toEqual([word, '-e']);
    expect(existsSync(join(place.directory, CANARY))).toBe(false);
  });
});
