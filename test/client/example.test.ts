/** The example of the client library does what its page says. */
import { describe, expect, it } from 'vitest';
import { lookAround } from '../../examples/look-around.ts';
import { CLI, MUSEUM, startHttp } from '../e2e/harness.ts';

describe('look-around.ts', () => {
  it.each(['program', 'URL'])('prints the tree of a server behind a %s, and the beginning of a text', async (kind) => {
    await using server = kind === 'URL' ? await startHttp([MUSEUM]) : undefined;
    const lines: string[] = [];
    await lookAround(
      server?.url ?? `"${process.execPath}" "${CLI}" serve "${MUSEUM}"`,
      (line) => void lines.push(line),
    );
    expect(lines[0]).toMatch(/^vitrine .*, modern era$/);
    expect(lines.some((line) => /^ +welcome\.md \(\d+ bytes\)$/.test(line))).toBe(true);
    expect(lines.filter((line) => line.startsWith('stopped'))).toEqual([]);
    expect(lines.at(-1)).toMatch(/ begins with "/);
  });
});
