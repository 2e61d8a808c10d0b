/** `vitrine explain` prints what the guide shows, answers other questions, and agrees with the server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { CLI, startHttp } from '../e2e/harness.ts';
import { askerOf } from '../security/access/asking.ts';
import { outcomeOf } from '../security/access/outcomes.ts';
import { hashOf } from '../security/authorization-servers.ts';
import { vitrine } from './here.ts';

const TOKEN = 'anna-token-0123456789abcdef';

let folder: Folder;
let config: string;

beforeAll(async () => {
  folder = await temporaryFolder({
    'docs/drafts/new.md': 'new',
    'docs/guide/a.md': 'a',
    'docs/contracts/x.md': 'x',
    'prompts/greet.md': 'Hello\n',
  });
  // The example of the guide, but with another source of tokens, and with a mounted server that needs no network.
  config = await writeConfig(folder, {
    auth: {
      resource: 'https://library.example/mcp',
      tokens: [{ name: 'anna', hash: hashOf(TOKEN), groups: ['staff'] }],
      anonymous: true,
    },
    access: {
      rules: [
        { name: 'staff reads the library', effect: 'allow', who: { groups: ['staff'] }, mounts: ['docs', 'wiki'] },
        {
          name: 'guests see the guide',
          effect: 'allow',
          who: 'anyone',
          operations: ['list', 'read', 'metadata'],
          uris: ['docs+file:///', 'docs+file:///guide/**'],
        },
        { name: 'nobody knows of drafts', effect: 'hide', uris: ['docs+file:///drafts/**'] },
        { name: 'contracts need a yes', effect: 'ask', uris: ['docs+file:///contracts/**'], rememberSeconds: 600 },
        { name: 'no writing to the wiki', effect: 'deny', tools: ['wiki_delete*', 'wiki_update*'] },
        { name: 'big reads need a scope', effect: 'allow', who: { scopes: ['wiki:read'] }, tools: ['wiki_*'] },
        { effect: 'deny', tools: ['search'], arguments: { pattern: 'secret*' } },
        { effect: 'allow', who: 'authenticated', prompts: ['greet'] },
      ],
    },
    mounts: { docs: './docs', wiki: { command: process.execPath, args: [CLI, 'serve', './docs'], start: 'lazy' } },
    prompts: './prompts',
  });
});
afterAll(() => folder[Symbol.asyncDispose]());

async function explained(...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await vitrine(['explain', ...args, '--config', config], folder.path);
  expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' });
  return stdout;
}

const STAFF = ['--as', 'anna', '--group', 'staff'];

describe.concurrent('vitrine explain', () => {
  it('prints what the guide shows', async () => {
    expect(await explained('docs+file:///drafts/new.md', ...STAFF)).toBe(
      [
        'as subject anna, groups staff, scopes none',
        ...['list', 'read', 'metadata', 'subscribe'].flatMap((operation) => [
          `${operation.padEnd(9)} hide    nobody knows of drafts`,
          '  also    allow   staff reads the library',
        ]),
        '',
      ].join('\n'),
    );
  });

  it.each<[string, readonly string[], RegExp]>([
    [
      'one operation',
      ['docs+file:///contracts/x.md', ...STAFF, '--operation', 'read'],
      /^.*\nread {6}ask {5}contracts need a yes\n {2}also {4}allow {3}staff/,
    ],
    [
      'somebody without a token',
      ['docs+file:///guide/a.md', '--as', 'anonymous'],
      /^as anonymous: [\s\S]*read {6}allow {3}guests see the guide[\s\S]*subscribe deny {4}default/,
    ],
    [
      'a token of the configuration, with the groups that it has there',
      ['docs+file:///guide/a.md', '--as', 'token:anna'],
      /^as subject anna, groups staff,[\s\S]*subscribe allow {3}staff/,
    ],
    [
      'a resource that does not exist',
      ['docs+file:///drafts/nothing.md', ...STAFF],
      /does not exist; the policy would decide:\nlist {6}hide/,
    ],
    ['another spelling', ['docs+file:///guide/../drafts/new.md', ...STAFF], /hide {4}nobody knows|does not exist/],
    ['a template', ['docs+file:///{+path}', ...STAFF], /list {6}allow {3}staff reads the library\ncomplete {2}allow/],
    [
      'a tool',
      ['--tool', 'wiki_delete_page', '--arguments', '{"page": "x"}', ...STAFF],
      /call {6}deny {4}no writing to the wiki/,
    ],
    [
      'a tool that needs scopes',
      ['--tool', 'wiki_read', '--as', 'bob'],
      /call {6}deny {4}default; allowed with the scopes wiki:read/,
    ],
    ['a resource tool', ['--tool', 'read', '--as', 'bob'], /call {6}allow {3}default of resource tools/],
    [
      'arguments',
      ['--tool', 'search', '--arguments', '{"pattern": "secret plan"}', '--as', 'bob'],
      /call {6}deny {4}rule 7/,
    ],
    [
      'a prompt',
      ['--prompt', 'greet', '--as', 'bob', '--issuer', 'https://login.example', '--client', 'c'],
      /^as subject bob, issuer https:\/\/login\.example, client c, [\s\S]*prompt {4}allow {3}rule 8/,
    ],
    ['a prompt for an anonymous caller', ['--prompt', 'greet', '--as', 'anonymous'], /prompt {4}deny {4}default/],
  ])('explains %s', async (_what, args, expected) => {
    expect(await explained(...args)).toMatch(expected);
  });

  it.each<[string, readonly string[], RegExp]>([
    ['nothing to explain', ['--as', 'anna'], /Say one thing to explain/],
    ['two things', ['docs+file:///', '--tool', 'x', '--as', 'anna'], /Say one thing to explain/],
    ['a missing caller', ['docs+file:///'], /--as/],
    [
      'arguments without a tool',
      ['docs+file:///', '--arguments', '{}', '--as', 'anna'],
      /--arguments are those of a --tool/,
    ],
    [
      'arguments that are no JSON object',
      ['--tool', 'x', '--arguments', '[1]', '--as', 'anna'],
      /--arguments takes a JSON object, as in/,
    ],
    [
      'an unknown operation',
      ['docs+file:///', '--operation', 'look', '--as', 'anna'],
      /--operation is one of list, read, metadata, subscribe|--operation/,
    ],
  ])('says what to do about %s', async (_what, args, line) => {
    const { status, stdout, stderr } = await vitrine(['explain', ...args, '--config', config], folder.path);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^vitrine: [^\n]+\n$/);
    expect(stderr).toMatch(line);
  });

  it('says that everything is allowed if there are no rules', async () => {
    await folder.write('open.yaml', 'mounts:\n  docs: ./docs\n');
    const { stdout } = await vitrine(
      ['explain', 'docs+file:///', '--as', 'anonymous', '--config', 'open.yaml'],
      folder.path,
    );
    expect(stdout).toContain('Everything is allowed: the configuration has no access.');
  });

  it('prints decisions that a server with the same configuration makes', async () => {
    await using server = await startHttp(['--config', config]);
    const said: Readonly<Record<string, string>> = { allow: 'answered', deny: 'denied', hide: 'missing', ask: 'asked' };
    for (const [token, as] of [
      [TOKEN, ['--as', 'token:anna']],
      [undefined, ['--as', 'anonymous']],
    ] as const) {
      const ask = await askerOf(server.url, 'modern', token);
      for (const uri of ['docs+file:///guide/a.md', 'docs+file:///drafts/new.md', 'docs+file:///contracts/x.md']) {
        const lines = await explained(uri, ...as);
        for (const operation of ['read', 'metadata']) {
          const effect = new RegExp(`^${operation} +(\\w+)`, 'm').exec(lines)?.[1] ?? '';
          expect([uri, as, operation, outcomeOf(await ask(`resources/${operation}`, { uri }))]).toEqual([
            uri,
            as,
            operation,
            said[effect],
          ]);
        }
      }
    }
  });
});
