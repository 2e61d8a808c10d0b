/** Holds the table of requirements against the tests that cite it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { REQUIREMENTS } from './requirements.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Tests that drive a server through the wire. */
const WIRE = ['test/e2e/', 'test/security/', 'test/cli/'];

const CITATION = /\[([A-Z0-9]{2,}-(?:[A-Z0-9]+-)*\d+(?:, (?:[A-Z0-9]+-)+\d+)*)\]/g;
const STRING = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\\n]|\\.)*`/g;

interface Citation {
  readonly id: string;
  readonly file: string;
}

/** Ids in brackets, in the string literals of a test, where titles are. */
function citationsIn(file: string, text: string): Citation[] {
  const strings = text.match(STRING) ?? [];
  return strings
    .flatMap((string) => [...string.matchAll(CITATION)])
    .flatMap(([, ids = '']) => ids.split(', '))
    .map((id) => ({ id, file }));
}

const files = ['src', 'test']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  .filter((file) => file.endsWith('.test.ts') && file !== 'test/requirements.test.ts');

const citations = files.flatMap((file) => citationsIn(file, readFileSync(join(ROOT, file), 'utf8')));
const inWireTests = new Set(
  citations.filter(({ file }) => WIRE.some((folder) => file.startsWith(folder))).map(({ id }) => id),
);

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

  it('knows every clause that a test cites', () => {
    const known = new Set(REQUIREMENTS.map(({ id }) => id));
    expect(citations.filter(({ id }) => !known.has(id))).toEqual([]);
  });

  it('finds citations, and only in titles', () => {
    const text =
      "// [RES-1]\nit('a [RES-2]', () => {});\nit(`b [SEC-RES-3, 973-1]`, () => array[0]);\nit('c [0] [x-1]')";
    expect(citationsIn('x', text).map(({ id }) => id)).toEqual(['RES-2', 'SEC-RES-3', '973-1']);
    expect(citations.length).toBeGreaterThan(100);
  });
});
