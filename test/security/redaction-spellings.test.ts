/** Secrets in other spellings than the rules expect: in UTF-16 within other text, quoted, truncated, escaped. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { read } from '../e2e/answers.ts';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { type Connected, connect, DIAGONAL } from '../e2e/harness.ts';

// Joined here, so that a scan of the sources for secrets finds none.
const TOKEN = `gh${'p_'}abcdefghijklmnopqrstuvwxyz0123456789`;
const LINE = `aBcD0123${'eFgH4567'.repeat(7)}`;
const BODY = [`MIIEowIBAAKCAQEA${'x'.repeat(48)}`, ...Array.from({ length: 10 }, () => LINE), 'Zz19+/aB=='];
const FIRST = `-----BEGIN RSA ${'PRIVATE KEY'}-----`;
const LAST = `-----END RSA ${'PRIVATE KEY'}-----`;
const PEM = [FIRST, ...BODY, LAST];

const prefixed = (prefix: string, lines: readonly string[] = PEM): string =>
  lines.map((line) => `${prefix}${line}`).join('\n');

const wide = (text: string, { big = false, bom = false }: { big?: boolean; bom?: boolean } = {}): Buffer => {
  const bytes = Buffer.from(`${bom ? '\ufeff' : ''}${text}`, 'utf16le');
  return big ? bytes.swap16() : bytes;
};

const ASCII = 'A line of text that is ASCII and goes on for a while.\n'.repeat(60);

/** The text in `BEFORE` and `AFTER` has to stay readable. */
const BEFORE = 'what is before stays\n';
const AFTER = '\nwhat is behind stays\n';
const around = (text: string): string => `${BEFORE}${text}${AFTER}`;
const within = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat([BEFORE, ASCII, ...parts, ASCII, AFTER].map((part) => Buffer.from(part as string)));

const TOKENS: Readonly<Record<string, Buffer>> = {
  'UTF-16 LE without a mark': within(wide(`token ${TOKEN} it is`)),
  'UTF-16 BE without a mark': within(wide(`token ${TOKEN} it is`, { big: true })),
  'UTF-16 LE with a mark': within(wide(`token ${TOKEN} it is`, { bom: true })),
  'UTF-16 BE with a mark': within(wide(`token ${TOKEN} it is`, { big: true, bom: true })),
  'UTF-16 LE at an odd place': within('x', wide(`token ${TOKEN} it is`)),
  'UTF-16 BE at an odd place': within('x', wide(`token ${TOKEN} it is`, { big: true })),
  'UTF-16 LE and nothing but the token': within(wide(TOKEN)),
  'UTF-16 BE and nothing but the token': within(wide(TOKEN, { big: true })),
  'UTF-16 LE that touches letters': within('letters', wide(TOKEN), 'letters'),
  'UTF-16 BE that touches letters': within('letters', wide(TOKEN, { big: true }), 'letters'),
  'UTF-16 LE between other scripts': within(wide(`令牌${TOKEN}で す`)),
  'UTF-16 of both orders': within(wide(`one ${TOKEN} `), wide(`two ${TOKEN} `, { big: true })),
  'UTF-16 among bytes that are no text': within(Buffer.alloc(64, 0), wide(` ${TOKEN} `), Buffer.alloc(64, 0xff)),
  'UTF-32 LE': within(Buffer.from([...` ${TOKEN} `].flatMap((each) => [each.charCodeAt(0), 0, 0, 0]))),
  'UTF-32 BE': within(Buffer.from([...` ${TOKEN} `].flatMap((each) => [0, 0, 0, each.charCodeAt(0)]))),
  'a line of .npmrc in UTF-16': within(wide(`//r.example/:_authToken=${TOKEN}\n`)),
};

const KEYS: Readonly<Record<string, string | Buffer>> = {
  'quoted as in a mail': prefixed('> '),
  'quoted twice': prefixed('>> '),
  'quoted twice with spaces': prefixed('> > '),
  'quoted as HTML': prefixed('&gt; ').replaceAll('\n', '<br/>\n'),
  'indented by spaces': prefixed('        '),
  'indented by tabs': prefixed('\t\t'),
  'a comment of a shell': prefixed('# '),
  'a comment of C': prefixed(' * '),
  'a comment of C++': prefixed('// '),
  'a comment of SQL': prefixed('-- '),
  'a comment of Lisp': prefixed(';; '),
  'a comment of a batch file': prefixed('REM '),
  'what a patch adds': prefixed('+'),
  'what a patch takes out': prefixed('-'),
  'numbered lines': PEM.map((line, index) => `${index + 1}: ${line}`).join('\n'),
  'a table': PEM.map((line) => `| ${line} |`).join('\n'),
  'strings that are joined': PEM.map((line) => `"${line}\\n" +`).join('\n'),
  'a list in JSON': JSON.stringify(PEM, undefined, 2),
  'a text in JSON': JSON.stringify({ key: PEM.join('\n'), after: 1 }),
  'a text in JSON in JSON': JSON.stringify(JSON.stringify({ key: PEM.join('\n') })),
  'a text in JSON with CRLF': JSON.stringify({ key: PEM.join('\r\n') }),
  'a text in JSON with escaped slashes': JSON.stringify({ key: PEM.join('\n') }).replaceAll('/', '\\/'),
  'a text in JSON that is cut': JSON.stringify({ key: PEM.slice(0, 6).join('\n') }),
  CRLF: PEM.join('\r\n'),
  CR: PEM.join('\r'),
  'CRLF and quoted': prefixed('> ').replaceAll('\n', '\r\n'),
  'empty lines between': PEM.join('\n\n'),
  'in one line': PEM.join(''),
  'in one line, with spaces': PEM.join(' '),
  'encoded for a URL': encodeURIComponent(PEM.join('\n')),
  'without its end': prefixed('', PEM.slice(0, -1)),
  'without its end, quoted': prefixed('> ', PEM.slice(0, -1)),
  'cut within a line': PEM.join('\n').slice(0, 400),
  'cut within a line, quoted': prefixed('> ').slice(0, 400),
  'cut behind its first line': prefixed('', PEM.slice(0, 2)),
  'without its beginning': prefixed('', PEM.slice(1)),
  'without its beginning, quoted': prefixed('> ', PEM.slice(4)),
  'cut out in the middle': prefixed('', [...PEM.slice(0, 4), '[...]', ...PEM.slice(8)]),
  'cut out in the middle, with words': prefixed('', [...PEM.slice(0, 4), '(some lines omitted)', ...PEM.slice(8)]),
  'encrypted, with headers': prefixed('', [
    FIRST,
    'Proc-Type: 4,ENCRYPTED',
    'DEK-Info: AES-128-CBC,3F17F5316E2BAC893F17F5316E2BAC89',
    '',
    ...PEM.slice(1),
  ]),
  'encrypted, with headers, quoted': prefixed('> ', [
    FIRST,
    'Proc-Type: 4,ENCRYPTED',
    'DEK-Info: AES-128-CBC,3F17F5316E2BAC893F17F5316E2BAC89',
    '',
    ...PEM.slice(1, -1),
  ]),
  'of another kind': PEM.join('\n').replaceAll('RSA', 'ENCRYPTED'),
  'of SSH2': PEM.join('\n')
    .replaceAll('-----', '----')
    .replace('----BEGIN RSA', '---- BEGIN SSH2 ENCRYPTED')
    .replace('KEY----', 'KEY ----'),
  'short, as of Ed25519': `-----BEGIN ${'PRIVATE KEY'}-----\nMC4CAQAwBQYDK2VwBCIEI${LINE.slice(0, 43)}\n-----END ${'PRIVATE KEY'}-----`,
  'in UTF-16': wide(PEM.join('\r\n'), { bom: true }),
  'in UTF-16, quoted and without its end': wide(prefixed('> ', PEM.slice(0, -1)), { big: true }),
};

const PLAIN: Readonly<Record<string, string>> = {
  'a mark in prose': `A key begins with -----BEGIN ${'PRIVATE KEY'}----- and is followed by internationalization/of/paths.`,
  'a mark with a gap': `-----BEGIN ${'PRIVATE KEY'}-----\n...\n-----END ${'PRIVATE KEY'}-----\n`,
  'a certificate': `-----BEGIN CERTIFICATE-----\n${BODY.join('\n')}\n-----END CERTIFICATE-----\n`,
  'NULs between words': 'one\0two\0three\0four five six\0',
};

describe.each(DIAGONAL)('other ways to write a secret, over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let on: Connected;
  const names = new Map<string, string>();

  beforeAll(async () => {
    folder = await temporaryFolder();
    for (const [name, content] of Object.entries({
      ...TOKENS,
      ...Object.fromEntries(
        Object.entries(KEYS).map(([key, text]) => [
          key,
          typeof text === 'string' ? around(text) : Buffer.concat([Buffer.from(BEFORE), text, Buffer.from(AFTER)]),
        ]),
      ),
      ...PLAIN,
    })) {
      names.set(name, `${names.size}.txt`);
      await folder.write(`data/${names.get(name)}`, content);
    }
    const config = await writeConfig(folder, { mounts: { data: './data' }, redact: 'on' });
    on = await connect(transport, era, [config]);
  });
  afterAll(async () => {
    await on?.close();
    await folder?.[Symbol.asyncDispose]();
  });

  async function given(name: string, window?: { offset: number; length: number }): Promise<Buffer> {
    const [item] = await read(on, `data+file:///${names.get(name)}`, window);
    return item?.blob === undefined ? Buffer.from(item?.text ?? '') : Buffer.from(item.blob, 'base64');
  }

  const letters = (bytes: Buffer): string => bytes.toString('latin1').replaceAll('\0', '');

  it.each(Object.keys(TOKENS))('a token: %s', async (name) => {
    const bytes = await given(name);
    const original = TOKENS[name] as Buffer;
    expect(bytes.byteLength).toBe(original.byteLength);
    for (let at = 0; at + 12 <= TOKEN.length; at++) expect(letters(bytes)).not.toContain(TOKEN.slice(at, at + 12));
    expect(bytes.toString('latin1')).toContain(BEFORE + ASCII);
    expect(bytes.toString('latin1')).toContain(ASCII + AFTER);
    const middle = original.length / 2;
    for (const offset of [middle - 40, middle - 11, middle + 1].map(Math.floor))
      expect((await given(name, { offset, length: 31 })).equals(bytes.subarray(offset, offset + 31)), `${offset}`).toBe(
        true,
      );
  });

  it.each(Object.keys(KEYS))('a private key: %s', async (name) => {
    const text = letters(await given(name));
    for (const part of ['MIIEow', 'xxxxxxxx', 'aBcD', 'FgH4', 'Zz19', 'MC4CAQ', '3F17F5'])
      expect(text.replaceAll('\\', ''), part).not.toContain(part);
    expect(text).toContain('[redacted: private-key]');
    expect(text.startsWith(BEFORE)).toBe(true);
    expect(text.endsWith(AFTER)).toBe(true);
  });

  it.each(Object.keys(PLAIN))('no secret: %s', async (name) => {
    expect((await given(name)).toString()).toBe(PLAIN[name]);
  });
});
