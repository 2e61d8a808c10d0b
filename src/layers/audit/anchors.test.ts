import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anchors, readAnchors } from './anchors.ts';
import { MAX_LINE_BYTES } from './chain.ts';

const HASH = 'ab'.repeat(32);
const note = (seq: number, padding = ''): string =>
  `{"anchor":1,"time":"2026-01-01T00:00:00.000Z","seq":${seq},${padding}"head":"${HASH}"}`;

describe('notes of heads', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitrine-anchors-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function read(text: string): Promise<Anchors> {
    const file = join(folder, 'heads');
    await writeFile(file, text);
    return readAnchors(file);
  }

  it.each([
    ['each on a line', `${note(1)}\n${note(2)}\n`],
    ['with lines of Windows', `${note(1)}\r\n${note(2)}\r\n`],
    ['without an end of the last line', `${note(1)}\n${note(2)}`],
    ['between other lines', `log\n${note(1)}\n\nlog {"anchor":\n${note(2)}\nlog`],
    ['after texts that a program writes over', `10 %\r20 %\r${note(1)}\n30 %\r${note(2)}\r40 %`],
    ['after a line that is too long', `${note(1)}\n${'x'.repeat(3 * MAX_LINE_BYTES)}\n${note(2)}\n`],
  ])('are found %s', async (_, text) => {
    const { heads, problems } = await read(text);
    expect([...heads.keys()]).toEqual([1, 2]);
    expect(problems).toEqual([]);
  });

  it.each([
    ['with an end', '\n'],
    ['without one', ''],
  ])('are not read from a line over the limit, %s', async (_, end) => {
    const { heads, problems } = await read(`${note(1)}\n${note(2, ' '.repeat(MAX_LINE_BYTES))}${end}`);
    expect([...heads.keys()]).toEqual([1]);
    expect(problems).toEqual([{ line: 2, problem: 'not a note of a head' }]);
  });

  it.each(['x', 'é', '日'])(
    'with letters like %s are read if they have as many bytes as the limit, and not one more',
    async (letter) => {
      const room = MAX_LINE_BYTES - Buffer.byteLength(note(1, '"host":"",'));
      const size = Buffer.byteLength(letter);
      const full = letter.repeat(room / size) + 'x'.repeat(room % size);
      const { heads, problems } = await read(`${note(1, `"host":"${full}",`)}\n${note(2, `"host":"${full}x",`)}\r\n`);
      expect([...heads.keys()]).toEqual([1]);
      expect(problems).toEqual([{ line: 2, problem: 'not a note of a head' }]);
    },
  );
});
