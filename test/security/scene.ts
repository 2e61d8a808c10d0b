/** A folder to serve, with things around and inside of it that must never be seen. */
import { symlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';

/** A text that is in everything hidden: in contents and in names of files. */
export const MARKER = 'xK7-never-to-be-seen-Q2v';

const SECRET = `${MARKER}\n`;

/** The shown resources: URI and content. */
export const SHOWN: Readonly<Record<string, string>> = {
  'file:///a.txt': 'content of a.txt',
  'file:///guide/intro.md': '# content of intro.md',
  'file:///guide/deep/x.txt': 'content of x.txt',
  'file:///with%20space.txt': 'content of with space.txt',
  'file:///decoys/%252e%252e/secret.txt': 'decoy 1',
  'file:///decoys/%252E%252e/secret.txt': 'decoy 2',
  'file:///decoys/x..%252fsecret.txt': 'decoy 3',
  'file:///decoys/x...': 'decoy 4',
  'file:///decoys/a;b=c': 'decoy 5',
  'file:///decoys/%EF%BC%8E%EF%BC%8E': 'decoy 6',
};

/** Links from the root: name and target. `PARENT` is the folder that contains the root. */
const LINKS: Readonly<Record<string, string>> = {
  out: '../secret.txt',
  'out-absolute': 'PARENT/root-secret/secret.txt',
  'out-folder': '../root-secret',
  'out-twice': 'out',
  'out-parent': '..',
  'out-passwd': '/etc/passwd',
  'out-environ': '/proc/self/environ',
  'out-root': '/',
  [`out-${MARKER}`]: '../secret.txt',
  circle: 'circle',
  'circle-one': 'circle-two',
  'circle-two': 'circle-one',
  self: '.',
  dangling: 'nothing-there',
  'to-hidden': '.env',
  'to-git': '.git',
  in: 'a.txt',
  'in-folder': 'guide',
};

export interface Scene extends AsyncDisposable {
  /** The folder that contains the served one. */
  readonly parent: Folder;
  readonly root: string;
  /** Gives the parts of an answer that must not be there; empty if there are none. The answer may repeat `asked`. */
  leaks(answer: string, asked?: string): string[];
}

export async function makeScene(): Promise<Scene> {
  const hidden = [
    '.env',
    '.hidden',
    '.git/config',
    'guide/.hidden.md',
    'server.pem',
    'id_rsa',
    'credentials/login.txt',
  ];
  const outside = ['secret.txt', 'a.txt', 'guide/intro.md', `${MARKER}.txt`];
  const parent = await temporaryFolder(
    Object.fromEntries([
      ...Object.entries(SHOWN).map(([uri, content]) => [`root/${pathOf(uri)}`, content]),
      ...hidden.map((path) => [`root/${path}`, SECRET]),
      ...outside.map((path) => [`root-secret/${path}`, SECRET]),
      ...outside.map((path) => [path, SECRET]),
      ['docs/a.txt', 'content of a.txt'],
      ['data/a.txt', 'content of the other a.txt'],
    ]),
  );
  for (const [name, target] of Object.entries(LINKS)) {
    await symlink(target.replace('PARENT', parent.path), parent.at('root', name));
  }
  // Programs that a test starts have the marker in their environment, to which the link `out-environ` leads.
  process.env.VITRINE_TEST_MARKER = MARKER;
  return {
    parent,
    root: parent.at('root'),
    leaks(answer, asked = '') {
      const own = JSON.stringify(asked).slice(1, -1);
      const text = own === '' ? answer : answer.replaceAll(own, '').replaceAll(asked, '');
      const decoded = [...text.matchAll(/"blob":"([^"]*)"/g)].map((match) =>
        Buffer.from(match[1] ?? '', 'base64').toString(),
      );
      const all = [text, ...decoded].join('\n');
      return [MARKER, parent.path, basename(parent.path), encodeURIComponent(parent.path), 'root:x:0:0'].filter(
        (word) => all.includes(word),
      );
    },
    [Symbol.asyncDispose]: async () => {
      delete process.env.VITRINE_TEST_MARKER;
      await parent[Symbol.asyncDispose]();
    },
  };
}

const pathOf = (uri: string): string =>
  uri
    .slice('file:///'.length)
    .split('/')
    .map((name) => decodeURIComponent(name))
    .join('/');
