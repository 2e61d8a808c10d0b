/** Mistakes in `access`: one line each, with the place in the configuration and the way out. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { hashOf } from '../security/authorization-servers.ts';
import { vitrine } from './here.ts';

let folder: Folder;
beforeAll(async () => {
  folder = await temporaryFolder({ 'docs/a.md': 'a' });
});
afterAll(() => folder[Symbol.asyncDispose]());

const MOUNTS = 'mounts:\n  docs: ./docs\n';
const AUTH = `auth:\n  resource: https://a.example/mcp\n  tokens: [{ name: x, hash: ${hashOf('x')} }]\n`;

it.concurrent.each<[string, string, RegExp]>([
  [
    'auth without access',
    `${MOUNTS}${AUTH}`,
    /:3.*auth: needs access beside it, for what callers may do, as in access: \{ rules/,
  ],
  ['an empty access', `${MOUNTS}access: {}\n`, /:3.*Give rules, as in access: \{ rules/],
  ['an unknown effect', `${MOUNTS}access:\n  rules:\n    - effect: permit\n`, /:5.*effect/],
  ['an unknown key', `${MOUNTS}access:\n  rules:\n    - effect: allow\n      uri: ["docs+**"]\n`, /:[56].*uri/],
  [
    'a question about a list',
    `${MOUNTS}access:\n  rules:\n    - effect: ask\n      operations: [list]\n`,
    /:5.*a human can be asked about read, call, prompt, not about list/,
  ],
  [
    'a denial with rememberSeconds',
    `${MOUNTS}access:\n  rules:\n    - effect: allow\n    - effect: deny\n      rememberSeconds: 5\n`,
    /:6.*only what is asked is remembered/,
  ],
  [
    'tools with the operation read',
    `${MOUNTS}access:\n  rules:\n    - { effect: allow, tools: [x], operations: [read] }\n`,
    /:5.*operation call; add it/,
  ],
  [
    'a glob within a name',
    `${MOUNTS}access:\n  rules:\n    - effect: hide\n      uris: ["docs+file:///**secret*"]\n`,
    /:5.*\*\* stands between slashes or at the end/,
  ],
  ['an invalid default', `${MOUNTS}access:\n  rules: []\n  default: ask\n`, /:5.*default/],
  [
    'rules beside Cedar',
    `${MOUNTS}access:\n  rules: []\n  cedar: { policies: x.cedar }\n`,
    /:5.*replaces rules and default; remove those/,
  ],
  [
    'confirm beside Cedar',
    `${MOUNTS}confirm: ["docs+**"]\naccess:\n  cedar: { policies: x.cedar }\n`,
    /:3.*With access\.cedar, policies say what a human confirms/,
  ],
])('%s is reported with its place', async (what, text, expected) => {
  const file = `${what.replaceAll(/\W/g, '-')}.yaml`;
  await folder.write(file, text);
  const { status, stdout, stderr } = await vitrine(['check', '--config', file], folder.path);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^vitrine: [^\n]+\n$/);
  expect(stderr).toContain(file);
  expect(stderr).toMatch(expected);
});

it('confirm is a rule beside the others, and the stricter one decides', async () => {
  await folder.write(
    'both.yaml',
    `${MOUNTS}confirm: ["docs+file:///a.*"]\naccess:\n  rules:\n    - { name: all, effect: allow, mounts: [docs] }\n`,
  );
  const { stdout } = await vitrine(
    ['explain', 'docs+file:///a.md', '--as', 'anonymous', '--config', 'both.yaml'],
    folder.path,
  );
  expect(stdout).toMatch(/read {6}ask {5}confirm\n {2}also {4}allow {3}all\n/);
});
