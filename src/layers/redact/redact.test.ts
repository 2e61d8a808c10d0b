import { afterAll, describe, expect, it } from 'vitest';
import { chunksOf, closeBodies } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ReadOptions, ResourceProvider } from '../../core/provider.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { scene } from '../../testing/git-scene.ts';
import { layerContract } from '../../testing/layer-contract.ts';
import { createRedaction, type RedactOptions } from './index.ts';
import { MAX_KEY_LENGTH } from './scan-keys.ts';
import { MARGIN_BYTES } from './scan-program.ts';
import { createScanner } from './scanner.ts';

// Endless resources, which cannot be scanned, are excluded.
const shared = createRedaction({ except: ['**'] });
afterAll(() => shared.close());
layerContract('redact', shared.layer);

// Joined here, so that a scan of the sources for secrets finds none.
const AWS_KEY = `AKIA${'QYLPMN5HTXSPQZRA'}`;
const AWS_SECRET = `9drTJvcXLB89EXAMPLEKLB8923FB892${'3FB892XYZ'}`;
const GITHUB = `gh${'p_'}abcdefghijklmnopqrstuvwxyz0123456789`;
const PEM = [
  `-----BEGIN RSA ${'PRIVATE KEY'}-----`,
  `MIIEowIBAAKCAQEA${'x'.repeat(48)}`,
  ...Array.from({ length: 10 }, () => 'aBcD0123'.repeat(8)),
  `-----END RSA ${'PRIVATE KEY'}-----`,
].join('\n');

interface Read {
  readonly bytes: Buffer;
  readonly text: string;
  readonly counts: unknown;
}

const ctx = createContext();

function over(
  text: string | Uint8Array,
  options: RedactOptions = {},
): { provider: ResourceProvider } & AsyncDisposable {
  const redaction = createRedaction(options);
  const content = typeof text === 'string' ? { text } : { bytes: text };
  const provider = redaction.layer(memoryProvider({ resources: { 'a.txt': content, 'd/b.txt': { text: 'plain' } } }));
  return { provider, [Symbol.asyncDispose]: () => redaction.close() };
}

async function read(provider: ResourceProvider, want: Partial<ReadOptions> = {}): Promise<Read> {
  const bodies = await provider.read('memory:///a.txt', { maxBytes: 64 * 2 ** 20, maxChildren: 10, ...want }, ctx);
  try {
    const [body] = bodies;
    if (body === undefined) throw new Error('there is no body');
    const chunks: Uint8Array[] = [];
    for await (const chunk of chunksOf(body.content)) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    return { bytes, text: bytes.toString('utf8'), counts: body.resource._meta?.['vitrine/redacted'] };
  } finally {
    await closeBodies(bodies);
  }
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof ResourceError ? error.code : String(error)),
  );

describe('covers', () => {
  it.each([
    ['a key of AWS', `id=${AWS_KEY};`, AWS_KEY, { 'aws-key': 1 }, 'id=[redacted: aws-key]*;'],
    [
      'the secret alone, although the rule reports it together with its name',
      `aws_secret_access_key = "${AWS_SECRET}"\nafter`,
      AWS_SECRET,
      { 'aws-secret-key': 1 },
      `aws_secret_access_key = "[redacted: aws-secret-key]${'*'.repeat(14)}"\nafter`,
    ],
    ['a token after a letter of another script', `令牌${GITHUB}\n`, GITHUB, { 'github-token': 1 }, undefined],
    ['a password in a URL', 'see https://bob:hunter2x@db.example.org/x', 'hunter2x', { 'basic-auth': 1 }, undefined],
    [
      'a line of .npmrc',
      `//r.example/:_authToken=abc-${'def'}-0123456\nnext`,
      'abc-def',
      { 'npm-token': 1 },
      undefined,
    ],
    ['a private key within JSON', JSON.stringify({ key: PEM }), 'aBcD0123', { 'private-key': 1 }, undefined],
    [
      'a secret after a comment that turns the rules off',
      `# secretlint-disable\n${GITHUB}\n`,
      GITHUB,
      { 'github-token': 1 },
      undefined,
    ],
  ])('%s', async (_what, text, secret, counts, whole) => {
    await using engine = over(text);
    const given = await read(engine.provider);
    expect(given.text).not.toContain(secret);
    expect(given.counts).toEqual(counts);
    expect(given.bytes.byteLength).toBe(Buffer.byteLength(text));
    if (whole !== undefined) expect(given.text).toBe(whole);
  });

  it('keep the lines of a private key', async () => {
    await using engine = over(`before\n${PEM}\nafter\n`);
    const { text } = await read(engine.provider);
    expect(text.split('\n')).toHaveLength(`before\n${PEM}\nafter\n`.split('\n').length);
    expect(text).toMatch(/^before\n\[redacted: private-key\]\*+\n\*+\n/);
    expect(text).toMatch(/\*\nafter\n$/);
  });

  it('include text in UTF-16, which is given as bytes', async () => {
    await using engine = over(Buffer.from(`\ufefftoken ${GITHUB} end`, 'utf16le'));
    const given = (await read(engine.provider)).bytes.toString('utf16le');
    expect(given).toBe(`\ufefftoken [redacted: github-token]${'*'.repeat(GITHUB.length - 24)} end`);
  });

  it.each([
    [
      'a token of npm up to the quote behind it',
      `{"line": "//r.example/:_authToken=abc-${'def'}-0123456", "next": "stays"}`,
    ],
    ['a token of npm up to its own quote, spaces included', `_authToken="abc-${'def'} 0123456" stays`],
    ['no variable in place of a token of npm', `stays _authToken=${'$'}{NPM_TOKEN}`],
    ['no variable in quotes in place of a token of npm', `stays _authToken="${'$'}{NPM_TOKEN}"`],
  ])('include %s', async (_what, text) => {
    await using engine = over(text);
    const given = (await read(engine.provider)).text;
    expect(given).not.toContain('abc-def');
    expect(given).toContain('stays');
    expect(given.includes('NPM_TOKEN')).toBe(text.includes('NPM_TOKEN'));
  });

  it('keep JSON valid', async () => {
    await using engine = over(JSON.stringify({ key: PEM, id: AWS_KEY, plain: 'é' }));
    expect(JSON.parse((await read(engine.provider)).text)).toMatchObject({ plain: 'é' });
  });

  it('are in no content without a secret, which stays unchanged', async () => {
    const text = 'account: 1234-5678-9012, AKIAIOSFODNN7EXAMPLE, https://user:password@example.org/';
    await using engine = over(text);
    expect(await read(engine.provider)).toMatchObject({ text, counts: undefined });
  });
});

describe('windows', () => {
  const text = `${'é filler line\n'.repeat(3_000)}${PEM}\n${'x'.repeat(100)} ${GITHUB} tail ${AWS_KEY}\n${'y\n'.repeat(9_000)}`;

  it.each([1, 7, 61, 1_000])('around a secret equal the same range of the whole, %d bytes long', async (length) => {
    await using engine = over(text);
    const whole = (await read(engine.provider)).bytes;
    const from = Buffer.from(text).indexOf('-----BEGIN') - 3;
    const to = Buffer.from(text).indexOf(AWS_KEY) + 25;
    const step = Math.max(37, length - 1);
    for (let offset = from; offset < to; offset += step) {
      const part = await read(engine.provider, { range: { offset, length } });
      expect(part.bytes.equals(whole.subarray(offset, offset + length)), `at ${offset}`).toBe(true);
    }
  });

  it('count their secrets, even if they contain only a part of one', async () => {
    await using engine = over(text);
    const at = Buffer.from(text).indexOf(GITHUB);
    expect((await read(engine.provider, { range: { offset: at - 10, length: 11 } })).counts).toEqual({
      'github-token': 1,
    });
    expect((await read(engine.provider, { range: { offset: at - 10, length: 10 } })).counts).toBeUndefined();
  });

  it('at and past the end are as without the layer', async () => {
    await using engine = over('0123456789');
    expect((await read(engine.provider, { range: { offset: 10 } })).text).toBe('');
    expect(await codeOf(read(engine.provider, { range: { offset: 11 } }))).toBe('invalid');
    expect((await read(engine.provider, { range: { offset: 4, length: 3 } })).text).toBe('456');
  });

  it('have a margin that is longer than every known secret, in UTF-16, too', () => {
    expect(MARGIN_BYTES).toBeGreaterThan(2 * MAX_KEY_LENGTH);
  });

  it('of a long line are those of the whole: a token ends with its word', async () => {
    const line = `//r.example/:_authToken=${'aB3-'.repeat(9)} ${'and so on, '.repeat(40_000)}`;
    await using engine = over(line);
    const whole = (await read(engine.provider)).bytes;
    expect(whole.toString()).toContain('=[redacted: npm-token]');
    expect(whole.toString()).toContain('* and so on, and so on');
    for (const offset of [0, 20, 60, 20_000, 150_000, 300_000]) {
      const part = await read(engine.provider, { range: { offset, length: 100 } });
      expect(part.bytes.equals(whole.subarray(offset, offset + 100)), `at ${offset}`).toBe(true);
    }
  });
});

describe('limits', () => {
  it('a larger content is refused as a whole, and given in windows', async () => {
    await using engine = over(`${'line\n'.repeat(20_000)}${GITHUB}`, { maxBytes: 65_536 });
    expect(await codeOf(read(engine.provider))).toBe('too-large');
    const tail = await read(engine.provider, { range: { offset: 99_990, length: 100 } });
    expect(tail.text).toMatch(/^\n?line\nline\n\[redacted: github-token\]\*+$/);
  });

  it('a text that takes too long is refused, and the next one has its own thread and time', async () => {
    const scanner = createScanner({ timeoutMs: 1 });
    try {
      const slow = Buffer.from(`${GITHUB}\n`.repeat(200_000));
      await expect(scanner.scan(slow, ctx)).rejects.toMatchObject({ code: 'timeout' });
      await expect(scanner.scan(slow, ctx)).rejects.toMatchObject({ code: 'timeout' });
    } finally {
      await scanner.close();
    }
  });

  it('a waiting scan ends with its caller, and all end with the layer', async () => {
    const scanner = createScanner();
    const first = scanner.scan(Buffer.from(GITHUB), ctx);
    const gone = new AbortController();
    const second = scanner.scan(Buffer.from(GITHUB), { ...ctx, signal: gone.signal });
    gone.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    expect(await first).toEqual([{ start: 0, end: GITHUB.length, kind: 'github-token' }]);
    const last = codeOf(scanner.scan(Buffer.from(GITHUB), ctx));
    await scanner.close();
    expect(await last).toBe('unavailable');
    expect(await codeOf(scanner.scan(Buffer.from(GITHUB), ctx))).toBe('unavailable');
  });
});

describe('options', () => {
  it('refuse: a content with a secret is refused, and the error does not contain the secret', async () => {
    await using engine = over(`id=${AWS_KEY}`, { action: 'refuse' });
    const error = await read(engine.provider).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'denied', details: { secrets: { 'aws-key': 1 } } });
    expect(JSON.stringify(error)).not.toContain(AWS_KEY);
  });

  it('uris and except select by the canonical URI', async () => {
    await using other = over(GITHUB, { uris: ['memory:///d/**'] });
    expect((await read(other.provider)).text).toBe(GITHUB);
    await using excepted = over(GITHUB, { except: ['**/*.txt'] });
    expect((await read(excepted.provider)).text).toBe(GITHUB);
    await using chosen = over(GITHUB, { uris: ['memory:///a.*'] });
    expect((await read(chosen.provider, { range: { offset: 1, length: 9 } })).text).not.toBe(GITHUB.slice(1, 10));
  });
});

describe('the message of a commit', () => {
  const redaction = createRedaction();
  afterAll(() => redaction.close());

  it.each([
    ['of GitHub', GITHUB],
    ['of GitHub, fine-grained', `github${'_pat_'}${'a1B2'.repeat(5)}ab_${'a1B2'.repeat(14)}abc`],
    ['of npm', `npm${'_'}${'aB3'.repeat(12)}`],
    ['of npm in a file', `//r.example/:_authToken=abc-${'def'}-0123456`],
    ['in a URL', `https://bob:hun_ter2x_y@${'db.example.org'}/x`],
  ])('shows no secret in its document: %s', async (_what, secret) => {
    await using place = await scene();
    const oid = place.commit(`Oops ${secret} it is\n\nAnd ${secret} again`);
    const provider = redaction.layer(await place.open());
    const bodies = await provider.read(`git:///commit/commits/${oid}`, { maxBytes: 2 ** 20, maxChildren: 0 }, ctx);
    expect(bodies.length).toBeGreaterThan(0);
    for (const { content } of bodies) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of chunksOf(content)) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString('utf8');
      expect(text).toContain('it is');
      expect(text.replaceAll('\\', '')).not.toContain(secret.slice(-16, -12));
    }
    await closeBodies(bodies);
  });
});
