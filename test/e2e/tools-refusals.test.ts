/** Bad input to tools: every error says what is wrong and how to do better, and reveals no internals. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallToolResult } from '../../src/protocol/content.ts';
import { structured, textOf } from '../tools/engine.ts';
import { failure } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, MATRIX } from './harness.ts';

const A = 'data+file:///a.txt';
const LONG = `data+file:///${'x'.repeat(2_000)}`;

/** The tool, the arguments, and text that the answer has to contain. */
const BAD: readonly (readonly [what: string, tool: string, args: Record<string, unknown>, says: RegExp])[] = [
  ['no arguments', 'read', {}, /arguments of read are not valid: uri/],
  ['a number for a URI', 'read', { uri: 7 }, /uri: .*expected string, received number/],
  ['null for a URI', 'describe', { uri: null }, /uri: .*expected string/],
  ['a list for a URI', 'subscribe', { uri: [A] }, /uri: .*expected string/],
  ['an empty URI', 'read', { uri: '' }, /uri: /],
  ['a URI that is too long', 'read', { uri: `x:${'y'.repeat(70_000)}` }, /uri: .*65536/],
  ['an unknown field', 'read', { uri: A, path: '/etc/passwd' }, /Unrecognized key.*"path"/],
  ['an unknown field where there are none', 'list_subscriptions', { all: true }, /Unrecognized key.*"all"/],
  ['an unknown value of `as`', 'read', { uri: A, as: 'binary' }, /as: .*"embedded"\|"plain"\|"window"/],
  ['a negative offset', 'read', { uri: A, start_offset: -1 }, /start_offset: .*>=0/],
  ['a fraction of an offset', 'read', { uri: A, start_offset: 1.5 }, /start_offset: .*int/],
  ['text for an offset', 'read', { uri: A, start_offset: '10' }, /start_offset: .*expected number/],
  ['an offset that is far too large', 'read', { uri: A, start_offset: 1e300 }, /start_offset: /],
  ['a window without room for a character', 'read', { uri: A, max_bytes: 3 }, /max_bytes: .*>=4/],
  ['a negative limit', 'read', { uri: A, max_bytes: -5 }, /max_bytes: .*>=4/],
  ['a huge limit', 'read', { uri: A, max_bytes: 1e12 }, /max_bytes: .*<=100000/],
  ['a window past the end', 'read', { uri: A, start_offset: 10 }, /begins past the end .* has 9 bytes/],
  [
    'a resource that is too large to be read whole',
    'read_embedded',
    { uri: 'data+file:///large.txt' },
    /200000 bytes.*at most 100000.*"as":"window"/,
  ],
  [
    'a resource that is too large to be read whole, plain',
    'read',
    { uri: 'data+file:///large.txt', as: 'plain' },
    /"as":"window"/,
  ],
  ['a missing resource', 'read', { uri: 'data+file:///nope.txt' }, /not found; list shows what there is/],
  ['a missing resource to describe', 'describe', { uri: 'data+file:///nope.txt' }, /not found; list shows/],
  ['a missing directory', 'list', { uri: 'data+file:///nope' }, /not found; list shows/],
  ['a missing resource to subscribe to', 'subscribe', { uri: 'data+file:///nope.txt' }, /not found; list shows/],
  ['a missing mount', 'read', { uri: 'other+file:///a.txt' }, /not found; list shows/],
  ['a made-up mount', 'list', { mount: 'filesystem' }, /no mount named "filesystem"; there are: data/],
  [
    'a made-up mount of templates',
    'list_templates',
    { mount: '../data' },
    /no mount named "..\/data"; there are: data/,
  ],
  ['a URI of another mount', 'list', { mount: 'data', uri: 'more+file:///' }, /not of the mount data/],
  ['a path for a URI', 'read', { uri: '/etc/passwd' }, /not found; list shows/],
  ['a way out', 'read', { uri: 'data+file:///../../etc/passwd' }, /dot segment/],
  ['a way out in escapes', 'read', { uri: 'data+file:///%2e%2e/%2e%2e/etc/passwd' }, /dot segment/],
  ['a backslash', 'read', { uri: 'data+file:///..\\secret' }, /backslash/],
  ['broken escapes', 'read', { uri: 'data+file:///100%' }, /%25/],
  ['control characters', 'read', { uri: 'data+file:///a\u0000.txt' }, /control characters/],
  ['a host in the URI', 'read', { uri: 'data+file://server/a.txt' }, /three slashes/],
  ['a missing resource with a long name', 'read', { uri: LONG }, /not found|too long/],
  ['a file as a directory', 'list', { uri: A }, /no children to list; read it instead/],
  ['a range of a directory, embedded', 'read', { uri: 'data+file:///', as: 'plain', max_bytes: 9 }, /as: "window"/],
  ['lines that are not there', 'read', { uri: `${A}#L99` }, /ends before line 99/],
  ['lines backwards', 'read', { uri: `${A}#L3-L2` }, /last line is before the first/],
  ['lines and a window', 'read', { uri: `${A}#L1`, start_offset: 0 }, /leave out/],
  [
    'lines of a resource that has none',
    'read',
    { uri: 'data+file:///noise.bin#L1' },
    /Only a text has lines|not UTF-8/,
  ],
  ['a garbled cursor', 'list', { cursor: 'garbage' }, /cursor is not valid.*list again without it/],
  ['an empty cursor', 'list', { cursor: '' }, /cursor: /],
  ['a cursor that is too long', 'list', { cursor: 'x'.repeat(70_000) }, /cursor: /],
  ['a garbled cursor of templates', 'list_templates', { cursor: 'AAAA' }, /cursor is not valid/],
  [
    'a resource that cannot be subscribed to',
    'subscribe',
    { uri: 'vitrine+state:///subscriptions' },
    /cannot be subscribed to/,
  ],
  ['a child of the state', 'read', { uri: 'vitrine+state:///other' }, /not found/],
];

describe.each(MATRIX)('bad input to tools over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let server: Connected;
  beforeAll(async () => {
    folder = await temporaryFolder({
      'data/a.txt': 'small: é',
      'data/large.txt': 'x'.repeat(200_000),
      'data/noise.bin': Buffer.from([0, 255, 1, 254]),
      ...Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`data/many/${index}.txt`, 'x'])),
      'more/b.txt': 'b',
    });
    const config = { limits: { maxReadBytes: 100_000 }, mounts: { data: './data', more: './more' } };
    server = await connect(transport, era, ['--config', await writeConfig(folder, config)]);
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  const call = (name: string, args?: unknown): Promise<CallToolResult> =>
    server.request<CallToolResult & Record<string, unknown>>('tools/call', { name, arguments: args });

  /** Checks that the text has no internals, and no control characters. */
  function expectClean(text: string): void {
    expect(text).not.toContain(folder.path);
    expect(text).not.toMatch(/\bat \S+ \(|node:|\.ts:\d|\.js:\d|ENOENT|EACCES|Internal/);
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    expect(text.length).toBeLessThan(2_500);
  }

  it.each(BAD)('%s gives an error that helps: %s [SEC-TOOL-1, SEC-TOOL-3]', async (_, tool, args, says) => {
    const result = await call(tool, args);
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text' }] });
    expect(result.structuredContent).toBeUndefined();
    expect(textOf(result)).toMatch(says);
    expectClean(textOf(result));
  });

  it('a cursor is valid for the same arguments only [SEC-UTIL-1]', async () => {
    const uri = 'data+file:///many';
    const { nextCursor: cursor } = structured<{ nextCursor: string }>(await call('list', { uri }));
    expect((await call('list', { uri, cursor })).isError).toBeUndefined();
    for (const args of [{ cursor }, { uri, prefix: uri, cursor }, { uri: 'data+file:///', cursor }]) {
      expect(textOf(await call('list', args))).toContain('The cursor is not valid for this request');
    }
    const answer = await failure(server.request('resources/list', { uri, cursor }));
    expect(answer.code).toBe(-32_602);
  });

  it('a missing tool gives a protocol error that says how to find the tools [SEC-TOOL-3]', async () => {
    for (const name of ['nope', 'Read', 'read ', '__proto__', 'constructor', '']) {
      const { code, message } = await failure(call(name, { uri: A }));
      expect(code).toBe(-32_602);
      expect(message).toContain(`There is no tool named ${JSON.stringify(name)}; tools/list has them`);
      expectClean(message);
    }
  });

  it.each([
    ['a list', []],
    ['text', 'uri'],
    ['a number', 7],
  ])('arguments that are %s give a protocol error', async (_, args) => {
    const { code, message } = await failure(call('read', args));
    expect([-32_602, -32_603]).toContain(code);
    expectClean(message);
  });

  it('does not affect later calls', async () => {
    expect(textOf(await call('read', { uri: A, as: 'plain' }))).toBe('small: é');
  });
});
