/** A search reveals nothing of a secret: not by its matches, their places, number or order. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { wrapProvider } from '../../core/layer.ts';
import { mountTree } from '../../core/mounts.ts';
import { createNotes, type MissingPart } from '../../core/notes.ts';
import type { ResourceProvider, SearchMatch, SearchQuery } from '../../core/provider.ts';
import { filesProvider } from '../../providers/files/index.ts';
import { gitProvider } from '../../providers/git/index.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { createRedaction, type Redaction } from './index.ts';
import { SUSPECT_LINES } from './suspects.ts';

// Joined here, so that a scan of the sources for secrets finds none.
const TOKEN = `gh${'p_'}wxyzabcdefghijklmnopqrstuvw012345678`;
const filler = (bytes: number): string => 'filler in a line '.repeat(Math.ceil(bytes / 17)).slice(0, bytes);

const FILES: Readonly<Record<string, string>> = {
  'short.txt': `first line\ntoken ${TOKEN} it is\nlast line\n`,
  'long.txt': `start ${filler(9_000)} token ${TOKEN} it is ${filler(9_000)}\nlast line\n`,
  'full.txt': `token ${TOKEN} first\n${'plain line\n'.repeat(1_100)}`,
  'edge.txt': `key ${TOKEN} first\n${'plain line\n'.repeat(1_000)}`,
  'binary.txt': `token ${TOKEN} first\nplain line\n\0\n`,
  'alone.txt': TOKEN,
  'wide.txt': `token ${[...TOKEN].join('\0')}\0 it is\nplain line\n`,
  'cut.txt': `quoted\n> -----BEGIN ${'PRIVATE KEY'}-----\n> ${TOKEN.slice(4).repeat(4)}\nplain line\n`,
  'plain.txt': 'nothing is in here but a plain line\n',
};

/** Files that are scanned in pieces: the line of the secret spans two pieces, and in `border.txt` the secret itself does. */
const LARGE: Readonly<Record<string, string>> = {
  'longer.txt': `start ${filler(70_000)} token ${TOKEN} it is ${filler(200_000)}\nlast line\n`,
  'border.txt': `start ${filler(256 * 1024 - 30)} ${TOKEN} it is`,
};

/** Patterns with a guess in them. The answer must not depend on the guess. */
const QUESTIONS: Readonly<Record<string, (guess: string) => Partial<SearchQuery>>> = {
  'the guess alone': (guess) => ({ pattern: guess }),
  'the guess as plain text': (guess) => ({ pattern: guess, literal: true }),
  'from the beginning of the line': (guess) => ({ pattern: `^.*${guess}` }),
  'from a word that is far before it': (guess) => ({ pattern: `start.*${guess}` }),
  'to the end of the line': (guess) => ({ pattern: `${guess}.*$` }),
  'to a word behind it': (guess) => ({ pattern: `${guess}.*it is` }),
  'or what is always there': (guess) => ({ pattern: `${guess}|it is` }),
  'or what is always there, before it': (guess) => ({ pattern: `start.*${guess}|start` }),
  'or the mark': (guess) => ({ pattern: `${guess}|redacted` }),
  'or the filling of the mark': (guess) => ({ pattern: `${guess}|\\*\\*\\*` }),
  'or what only one engine knows': (guess) => ({ pattern: `${guess}|[l&&n]` }),
  'or a plain line, of which there are too many': (guess) => ({ pattern: `${guess}|plain` }),
  'or anything': (guess) => ({ pattern: `${guess}|.*` }),
  'or a line that is covered whole': (guess) => ({ pattern: `${guess}|^$` }),
  'with a border of words': (guess) => ({ pattern: `\\b${guess}|en\\b ` }),
  'by its length': (guess) => ({ pattern: `${guess}[a-z0-9]{${TOKEN.length - guess.length}}\\b` }),
  'of a part of it': (guess) => ({ pattern: `[^ ]{4}${guess.slice(-3)}` }),
  'of its middle': (guess) => ({ pattern: `${guess.slice(2)}.|line` }),
  'in files of a name': (guess) => ({ pattern: `.*${guess}|start`, glob: 'long*.txt' }),
};

const GUESSES = [5, TOKEN.length].map((length) => ({
  right: TOKEN.slice(0, length),
  wrong: `${TOKEN.slice(0, length - 1)}${TOKEN[length - 1] === 'q' ? 'k' : 'q'}`,
}));

let folder: string;
const sources: Record<string, ResourceProvider> = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-searching-'));
  await mkdir(join(folder, 'files'));
  await mkdir(join(folder, 'large'));
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(folder, 'files', name), content);
  for (const [name, content] of Object.entries(LARGE)) await writeFile(join(folder, 'large', name), content);
  const git = (...args: string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args], {
      cwd: join(folder, 'files'),
      stdio: 'ignore',
    });
  const files = await filesProvider({ path: join(folder, 'files') });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'all');
  const resources = Object.fromEntries(Object.entries(FILES).map(([name, text]) => [name, { text }]));
  sources['by ripgrep'] = files;
  sources['in large files'] = await filesProvider({ path: join(folder, 'large') });
  sources['in a repository'] = await gitProvider({ path: join(folder, 'files') });
  sources['by reading'] = mountTree([{ name: 'm', provider: memoryProvider({ resources }) }]);
});
afterAll(async () => {
  for (const source of Object.values(sources)) await source.close?.();
  await rm(folder, { recursive: true, force: true });
});

async function find(provider: ResourceProvider, query: Partial<SearchQuery>): Promise<readonly string[]> {
  const found: SearchMatch[] = [];
  for await (const match of provider.search?.({ literal: false, ...query }, createContext()) ?? []) found.push(match);
  // Files are searched in parallel, so only the order within a file is fixed.
  return found
    .map(({ uri, place, more }) => ({ name: uri.slice(uri.lastIndexOf('/') + 1), place, end: more ? ' and more' : '' }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .map(({ name, place, end }) => `${name}:${place?.line}:${place?.offset}${end}`);
}

describe.each(['redact', 'refuse'] as const)('a search with covered secrets (%s)', (action) => {
  let redaction: Redaction;
  beforeAll(() => {
    redaction = createRedaction({ action });
  });
  afterAll(() => redaction.close());

  const same = async (source: string, name: string): Promise<void> => {
    const provider = redaction.layer(sources[source] as ResourceProvider);
    const ask = QUESTIONS[name] as (guess: string) => Partial<SearchQuery>;
    for (const { right, wrong } of GUESSES)
      expect(await find(provider, ask(right)), right).toEqual(await find(provider, ask(wrong)));
  };

  it.each(Object.keys(QUESTIONS))('gives a right and a wrong guess the same answer: %s', (name) =>
    same('by ripgrep', name),
  );

  it.each(['in large files', 'in a repository', 'by reading'])(
    'gives a right and a wrong guess the same answer %s',
    async (source) => {
      for (const name of [
        'from the beginning of the line',
        'or what is always there',
        'or a plain line, of which there are too many',
      ])
        await same(source, name);
    },
  );

  it.each(['by ripgrep', 'in a repository', 'by reading'])(
    'finds text beside a secret, and lines without one, %s',
    async (source) => {
      const provider = redaction.layer(sources[source] as ResourceProvider);
      const lines = async (pattern: string): Promise<readonly string[]> =>
        (await find(provider, { pattern })).map((each) => each.replace(/:\d+$/, ''));
      expect(await lines('last line')).toEqual(['long.txt:2', 'short.txt:3']);
      expect(await lines('^token')).toEqual(action === 'refuse' ? [] : ['full.txt:1', 'short.txt:2']);
      expect(await lines('^start')).toEqual(action === 'refuse' ? [] : ['long.txt:1']);
      expect(await lines('nothing is')).toEqual(['plain.txt:1']);
    },
  );

  it.each(['by ripgrep', 'in a repository', 'by reading'])(
    'says of a text with a secret whether it has more matches than are given, %s',
    async (source) => {
      const provider = redaction.layer(sources[source] as ResourceProvider);
      const found = await find(provider, { pattern: 'plain line' });
      expect(found.filter((each) => each.endsWith(' and more'))).toEqual([expect.stringMatching(/^full\.txt:1001:/)]);
      expect(found.filter((each) => each.startsWith('edge.txt:'))).toHaveLength(1_000);
    },
  );

  it('finds text beside a secret in large files', async () => {
    const provider = redaction.layer(sources['in large files'] as ResourceProvider);
    expect(await find(provider, { pattern: '^start' })).toEqual(
      action === 'refuse' ? [] : ['border.txt:1:0', 'longer.txt:1:0'],
    );
    expect(await find(provider, { pattern: 'last line' })).toEqual([
      `longer.txt:2:${LARGE['longer.txt']?.indexOf('last')}`,
    ]);
  });
});

describe('the notes on a search', () => {
  /** Searches resources of which those are large that `isLarge` says. Returns the names found and the notes. */
  async function noted(names: readonly string[], pattern: string, isLarge: (uri: string) => boolean = () => false) {
    const missing: MissingPart[] = [];
    const notes = { ...createNotes(), missing: (part: MissingPart) => void missing.push(part) };
    const texts = Object.fromEntries(
      names.map((name) => [name, { text: name.startsWith('secret') ? TOKEN : 'plain' }]),
    );
    const tree = mountTree([{ name: 'm', provider: memoryProvider({ resources: texts }) }]);
    const inner = wrapProvider(tree, {
      // Only a scan reads from an offset.
      read: async (uri, want, ctx) => {
        if (want.range !== undefined && isLarge(uri)) throw new ResourceError('too-large', 'Too large to be scanned');
        return await tree.read(uri, want, ctx);
      },
    });
    const redaction = createRedaction({ action: 'redact' });
    const found: string[] = [];
    for await (const { uri } of redaction.layer(inner).search?.({ literal: true, pattern }, createContext({ notes })) ??
      [])
      found.push(uri.slice(uri.lastIndexOf('/') + 1));
    await redaction.close();
    return { found, missing };
  }

  it('say that resources with secrets are left out after so many', async () => {
    const names = Array.from({ length: 1_001 }, (_, index) => `secret-${index}.txt`);
    const { found, missing } = await noted([...names, 'plain.txt'], 'plain');
    expect(found).toEqual(['plain.txt']);
    expect(missing).toEqual([{ reason: 'Of resources that may have secrets, only the first 1000 are searched' }]);
  });

  it('say that one with a secret is too large, whatever the pattern is, and not that the pattern is in another', async () => {
    const isLarge = (uri: string): boolean => uri.endsWith('large.txt');
    for (const pattern of [TOKEN.slice(0, 9), `${TOKEN.slice(0, 8)}-`])
      expect(await noted(['secret-large.txt'], pattern, isLarge)).toEqual({
        found: [],
        missing: [{ reason: 'Some resources are too large to be searched' }],
      });
    for (const pattern of ['plain', 'plane'])
      expect(await noted(['plain-large.txt'], pattern, isLarge)).toEqual({ found: [], missing: [] });
  });
});

it('every secret that is found in files matches the expression for suspects', async () => {
  const { RE2JS } = await import('re2js');
  const suspect = RE2JS.compile(SUSPECT_LINES);
  for (const line of [
    `x AKIA${'QYLPMN5HTXSPQZRA'} x`,
    `aws_secret_access_key = "${'9drT'.repeat(10)}"`,
    `> -----BEGIN ENCRYPTED ${'PRIVATE KEY'}-----`,
    `-----END%20PRIVATE%20${'KEY'}-----`,
    `//r.example/:_authToken=${'abc'}`,
    `npm_${'a'.repeat(36)}`,
    'see https://bob:hunter2x@db.example.org/x',
    `xoxb-${'1234'}-abcdef`,
    'https://hooks.slack.com/services/T1/B1/x',
    `SG.${'a'.repeat(22)}.b`,
    `shpat_${'a'.repeat(32)}`,
    TOKEN,
    `github_pat_${'a'.repeat(82)}`,
    `sk-${'a'.repeat(20)}T3Blbk${'FJ'}`,
    `sk-ant-${'api03'}-x`,
    `lin_${'api_'}x`,
    `ops_${'ey'}x`,
    'mongodb://user:pass@host/db',
    'MYSQL://user:pass@host/db',
    'postgresql://user:pass@host/db',
  ])
    expect(suspect.matcher(line).find(), line).toBe(true);
});
