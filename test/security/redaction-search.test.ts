/** A search reveals nothing of a secret that reads cover: not by its matches, their places, number or order. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { read } from '../e2e/answers.ts';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { CLI, type Connected, connect } from '../e2e/harness.ts';

// Joined here, so that a scan of the sources for secrets finds none.
const TOKEN = `gh${'p_'}wxyzabcdefghijklmnopqrstuvw012345678`;
const filler = (bytes: number): string => 'filler in a line '.repeat(Math.ceil(bytes / 17)).slice(0, bytes);

const FILES: Readonly<Record<string, string>> = {
  'short.txt': `first line\ntoken ${TOKEN} it is\nlast line\n`,
  'long.txt': `start ${filler(9_000)} token ${TOKEN} it is ${filler(9_000)}\nlast line\n`,
  'longer.txt': `start ${filler(70_000)} token ${TOKEN} it is ${filler(9_000)}\nlast line\n`,
  'plain.txt': 'nothing is in here but a plain line\n',
};

interface Found {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text?: string; readonly resource?: unknown }[];
  readonly structuredContent: { readonly matches: readonly { readonly uri: string; readonly line?: number }[] };
}

/** Patterns with a guess in them. The answer must not depend on the guess. */
const QUESTIONS: Readonly<Record<string, (guess: string) => object>> = {
  'the guess alone': (guess) => ({ pattern: guess }),
  'the guess as plain text': (guess) => ({ pattern: guess, literal: true }),
  'the guess, after a word far before it': (guess) => ({ pattern: `start.*${guess}` }),
  'the guess, to the end of the line': (guess) => ({ pattern: `${guess}.*$` }),
  'the guess, or text that is always there': (guess) => ({ pattern: `start.*${guess}|${guess}|it is` }),
  'the guess, or the mark of a cover': (guess) => ({ pattern: `${guess}|redacted|\\*\\*\\*` }),
  'the guess, or syntax that only one engine knows': (guess) => ({ pattern: `${guess}|[l&&n]` }),
  'the guess, in one file': (guess) => ({ pattern: `${guess}|line`, uri: 'data+file:///long.txt' }),
  'the guess, in another server': (guess) => ({ pattern: `start.*${guess}|line`, uri: 'up+far+file:///' }),
};

describe.each([
  { action: 'redact', transport: 'stdio', era: 'legacy' },
  { action: 'redact', transport: 'http', era: 'modern' },
  { action: 'refuse', transport: 'stdio', era: 'legacy' },
  { action: 'refuse', transport: 'http', era: 'modern' },
] as const)('a search where secrets are covered ($action), over $transport, $era', ({ action, transport, era }) => {
  let folder: Folder;
  let on: Connected;

  beforeAll(async () => {
    folder = await temporaryFolder();
    for (const [name, content] of Object.entries(FILES)) {
      await folder.write(`data/${name}`, content);
      await folder.write(`far/data/${name}`, content);
    }
    const far = await writeConfig(folder, { mounts: { far: { path: './data' } } }, 'far/vitrine.yaml');
    const up = { command: process.execPath, args: [CLI, 'serve', '--config', far] };
    const config = await writeConfig(folder, { mounts: { data: './data', up }, redact: { action } });
    on = await connect(transport, era, [config]);
  });
  afterAll(async () => {
    await on?.close();
    await folder?.[Symbol.asyncDispose]();
  });

  const ask = (args: object): Promise<Found> =>
    on.request('tools/call', { name: 'search', arguments: { uri: 'data+file:///', ...args } });

  /** Sorts the lines, because files are searched in parallel. */
  const said = async (args: object): Promise<readonly string[]> =>
    (await ask(args)).content.map((block) => JSON.stringify(block)).sort();

  it.each(Object.keys(QUESTIONS))('a right and a wrong guess get the same answer: %s', async (name) => {
    const question = QUESTIONS[name] as (guess: string) => object;
    for (const length of [5, TOKEN.length]) {
      const right = TOKEN.slice(0, length);
      const answer = await said(question(right));
      expect(answer).toEqual(await said(question(`${right.slice(0, -1)}q`)));
      expect(answer.join('\n')).not.toContain(TOKEN.slice(4, 12));
    }
  });

  it('finds text beside a secret, and lines without one', async () => {
    const found = async (pattern: string): Promise<readonly string[]> => {
      const { matches } = (await ask({ pattern })).structuredContent;
      return matches.map(({ uri, line }) => `${uri.slice('data+file:///'.length)}:${line}`).sort();
    };
    const behind = ['long.txt:2', 'longer.txt:2'];
    // With `refuse`, lines with a secret are not shown beside a match.
    expect(await found('last line')).toEqual(action === 'refuse' ? behind : [...behind, 'short.txt:3']);
    expect(await found('^start')).toEqual(action === 'refuse' ? [] : ['long.txt:1', 'longer.txt:1']);
    expect(await found('nothing is')).toEqual(['plain.txt:1']);
  });

  it('a read of a long line covers its secret and keeps its length, or is refused', async () => {
    if (action === 'refuse') {
      await expect(read(on, 'data+file:///long.txt#L1')).rejects.toMatchObject({ data: { reason: 'denied' } });
      return;
    }
    const [line] = await read(on, 'data+file:///long.txt#L1');
    expect(line?.text).toContain('token [redacted: github-token]****************');
    expect(line?.text).toHaveLength((FILES['long.txt'] ?? '').indexOf('\n') + 1);
  });
});
