/** Checks the table of requirements against the tests that cite it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { citationsIn, stringsIn, titledFiles } from './citations.ts';
import { REQUIREMENTS } from './requirements.ts';
import { INCIDENTS } from './security/incidents.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Tests that use a server over the wire. */
const WIRE = ['test/e2e/', 'test/security/', 'test/cli/', 'test/client/', 'test/gateway/'];
/** Tests that use servers of other makers, directly and mounted. */
const STRANGERS = 'test/gateway/strangers/';

const files = titledFiles(ROOT);
const citations = files.flatMap(citationsIn);
const citedIn = (folders: readonly string[]): ReadonlySet<string> =>
  new Set(citations.filter(({ file }) => folders.some((folder) => file.startsWith(folder))).map(({ id }) => id));
const inWireTests = citedIn(WIRE);
const inStrangers = citedIn([STRANGERS]);

describe('the table of requirements', () => {
  it('names each clause once', () => {
    const ids = REQUIREMENTS.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it.each(REQUIREMENTS.filter(({ status }) => status === 'proved'))(
    '$id is cited by a test through the wire',
    ({ id }) => {
      expect(inWireTests).toContain(id);
    },
  );

  it.each(REQUIREMENTS.filter(({ source }) => source.startsWith('SEP-')))(
    '$id is cited by a test against a server that is not ours',
    ({ id }) => {
      expect(inStrangers).toContain(id);
    },
  );

  it('knows every clause that a test cites', () => {
    const known = new Set(REQUIREMENTS.map(({ id }) => id));
    expect(citations.filter(({ id }) => !known.has(id))).toEqual([]);
  });

  it.each(REQUIREMENTS.flatMap(({ id, where }) => where.map((place) => ({ id, place }))))(
    '$id is met in $place, which is there',
    ({ place }) => {
      expect(existsSync(join(ROOT, place))).toBe(true);
    },
  );

  it('finds citations, and only in titles', () => {
    const text =
      "// [RES-1]\nit('a [RES-2]', () => {});\nit(`b [SEC-RES-3, 973-1]`, () => array[0]);\nit('c [0] [x-1]')";
    expect(citationsIn({ file: 'x', strings: stringsIn(text) }).map(({ id }) => id)).toEqual([
      'RES-2',
      'SEC-RES-3',
      '973-1',
    ]);
    expect(citations.length).toBeGreaterThan(100);
  });
});

describe('the table of incidents', () => {
  it.each(INCIDENTS.flatMap(({ cited }) => cited))('%s is in the title of a test', (words) => {
    expect(files.some(({ strings }) => strings.some((each) => each.includes(words)))).toBe(true);
  });
});
