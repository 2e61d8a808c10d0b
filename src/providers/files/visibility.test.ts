/** Tests that no path lists, reads, describes, completes or subscribes to a resource that is not shown. */
import { symlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/e2e/folders.ts';
import { refused, type Served, serve } from '../../../test/security/served.ts';
import type { FilesOptions } from './config.ts';
import { CREDENTIAL_GLOBS } from './index.ts';

type Options = Partial<FilesOptions>;

const HIDDEN = ['.bashrc', '.config/app.json', '.x'];

const VCS = [
  '.git/config',
  '.hg/store',
  '.svn/entries',
  '.bzr/x',
  '.jj/x',
  '_darcs/x',
  'CVS/Root',
  'cvs/Root',
  '.gitmodules',
];

/** Names without a leading dot, so that only the rule for credentials hides them. */
const CREDENTIALS = [
  'server.pem',
  'SERVER.PEM',
  'tls.key',
  'Tls.Key',
  'store.p12',
  'store.PFX',
  'login.keystore',
  'vault.kdbx',
  'id_rsa',
  'ID_RSA',
  'id_ed25519',
  'id_ed25519.old',
  'prod.env',
  'PROD.ENV',
  '_netrc',
  'htpasswd',
  'terraform.tfstate',
  'terraform.tfstate.backup',
  'credentials',
  'credentials.json',
  'client_secret_1.json',
  'service-account-x.json',
  'secrets.json',
  'secrets.yaml',
  'secrets.yml',
  'kubeconfig',
  'shadow',
];

const DOTTED_CREDENTIALS = [
  '.env',
  '.ENV',
  '.env.local',
  '.Env.Production',
  '.envrc',
  '.ssh/known_hosts',
  '.aws/credentials',
  '.gnupg/x',
  '.npmrc',
  '.netrc',
  '.pypirc',
  '.git-credentials',
  '.htpasswd',
  '.pgpass',
  '.docker/config.json',
  '.kube/config',
];

/** Names of copies that editors and people leave beside a file. */
const COPIES = [
  'server.key~',
  'server.pem.bak',
  'tls.key.orig',
  'id_rsa~',
  'prod.env.old',
  'secrets.json.bak~',
  'x.p12.SAVE',
];
const DOTTED_COPIES = ['.env~', '.env.bak', '.server.key.swp', '.id_rsa.swp', '.npmrc.bak'];

const HARMLESS = [
  'env.md',
  'environment.txt',
  'keyboard.txt',
  'monkey',
  'pem.txt',
  'credentials.md',
  'secrets.md',
  'shadow.png',
  'id_rsa.pub',
  'id_ed25519.pub',
  'notes.bak',
  'notes~',
];
const DOTTED_HARMLESS = ['.env.example', '.env.sample', '.env.template', '.env.dist', '.ENV.EXAMPLE', '.editorconfig'];

const uriOf = (path: string): string => `file:///${path.split('/').map(encodeURIComponent).join('/')}`;

/** Whether a path can be reached. Fails if not all operations agree. */
async function isShown(served: Served, path: string): Promise<boolean> {
  const uri = uriOf(path);
  const parent = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
  const name = path.slice(parent === '' ? 0 : parent.length + 1);
  const attempt = async (run: () => Promise<unknown>): Promise<boolean> => {
    const outcome = await run().then(
      () => true,
      () => false,
    );
    if (!outcome) expect(await refused(run()), `${path} is refused like what is missing`).toBe('not-found');
    return outcome;
  };
  const ways = {
    read: await attempt(() => served.bytes(uri)),
    metadata: await attempt(() => served.metadata(uri)),
    list: (await served.names(uriOf(parent)).catch((): string[] => [])).includes(name),
    children: (await served.text(uriOf(parent)).catch(() => '')).includes(`content of ${path}!`),
    complete: (await served.complete(parent === '' ? name : `${parent}/${name}`)).includes(path),
    watch: await attempt(async () => void (await (await served.watch(uri))[Symbol.asyncDispose]())),
  };
  expect(new Set(Object.values(ways)).size, `${path}: ${JSON.stringify(ways)}`).toBe(1);
  return ways.read;
}

async function shownOf(paths: readonly string[], options: Options, others: readonly string[] = []): Promise<string[]> {
  const files = Object.fromEntries([...paths, ...others].map((path) => [path, `content of ${path}!`]));
  await using folder = await temporaryFolder(files);
  await using served = await serve({ path: folder.path, ...options });
  const shown: string[] = [];
  for (const path of paths) if (await isShown(served, path)) shown.push(path);
  return shown;
}

describe('names that are left out [SEC-RES-1]', () => {
  it.each<[string, readonly string[], Options, boolean]>([
    ['with a dot by default', HIDDEN, {}, false],
    ['but none with a dot with the option hidden', HIDDEN, { hidden: true }, true],
    ['of folders of version control by default', VCS, { hidden: true }, false],
    ['but no folders of version control with the option vcs', VCS, { hidden: true, vcs: true }, true],
    [
      'of version control with a dot, unless hidden is set',
      VCS.filter((name) => name.startsWith('.')),
      { vcs: true },
      false,
    ],
    ['of credentials by default', CREDENTIALS, {}, false],
    [
      'of credentials, also if names with a dot are shown',
      [...CREDENTIALS, ...DOTTED_CREDENTIALS],
      { hidden: true },
      false,
    ],
    ['but no credentials with the option credentials', CREDENTIALS, { credentials: true }, true],
    [
      'but no credentials with a dot if both options are set',
      DOTTED_CREDENTIALS,
      { credentials: true, hidden: true },
      true,
    ],
    ['of credentials with a dot if only one option is set', DOTTED_CREDENTIALS, { credentials: true }, false],
    ['of copies of credentials', [...COPIES, ...DOTTED_COPIES], { hidden: true }, false],
    [
      'but no copies of credentials with the option credentials',
      [...COPIES, ...DOTTED_COPIES],
      { hidden: true, credentials: true },
      true,
    ],
    ['but none that only look alike', HARMLESS, {}, true],
    ['but no examples without values', [...HARMLESS, ...DOTTED_HARMLESS], { hidden: true }, true],
  ])('%s', async (_what, paths, options, shown) => {
    expect(await shownOf(paths, options)).toEqual(shown ? paths : []);
  });

  it('are tested one by one: each glob for credentials hides something', async () => {
    const examples = CREDENTIAL_GLOBS.map((glob) => glob.replace('{yml,yaml}', 'yaml').replaceAll('*', 'x'));
    expect(await shownOf(examples, { hidden: true, vcs: true })).toEqual([]);
  });

  it.each<[string, string]>([
    ['with everything below a hidden folder', '.config/deep/down/a.txt'],
    ['with everything below a folder of version control', '.git/refs/heads/main'],
    ['with everything below a folder of credentials', 'credentials/deep/a.txt'],
  ])('%s', async (_what, path) => {
    expect(await shownOf([path], {})).toEqual([]);
  });
});

describe('globs of a mount leave out', () => {
  const files = [
    'a.log',
    'b.txt',
    'x/a.log',
    'x/b.txt',
    'build/out.js',
    'x/build/out.js',
    'Build/out.js',
    'x.y/{z}.txt',
  ];

  it.each<[readonly string[], readonly string[]]>([
    [['*.log'], files.filter((path) => path !== 'a.log')],
    [['**/*.log'], files.filter((path) => !path.endsWith('.log'))],
    [['build'], files.filter((path) => !path.startsWith('build/'))],
    [['**/build'], files.filter((path) => !path.includes('build/'))],
    [['x/**'], files.filter((path) => !path.startsWith('x/'))],
    [['x'], files.filter((path) => !path.startsWith('x/'))],
    [['x.y/\\{z\\}.txt'], files.filter((path) => path !== 'x.y/{z}.txt')],
    [['*.log', 'x/b.txt'], files.filter((path) => path !== 'a.log' && path !== 'x/b.txt')],
  ])('%s', async (exclude, shown) => {
    expect(await shownOf(files, { exclude: [...exclude] })).toEqual(shown);
  });

  it('names with a dot, if those are shown', async () => {
    expect(await shownOf(['.a/b.txt', '.c/b.txt'], { hidden: true, exclude: ['.a'] })).toEqual(['.c/b.txt']);
  });
});

describe('links do not show a file that is left out', () => {
  const targets = ['.hidden', '.git', 'server.pem', 'excluded.txt', 'ignored.txt', '.config/x.txt', 'credentials'];

  it.each(targets)('%s', async (target) => {
    await using folder = await temporaryFolder({
      '.hidden': 'SECRET',
      '.git/config': 'SECRET',
      'server.pem': 'SECRET',
      'excluded.txt': 'SECRET',
      'ignored.txt': 'SECRET',
      '.config/x.txt': 'SECRET',
      'credentials/a.txt': 'SECRET',
      'plain.txt': 'plain',
      '.gitignore': 'ignored.txt\n',
    });
    await symlink(target, folder.at('link'));
    await symlink(folder.at(target), folder.at('absolute'));
    await symlink('link', folder.at('second'));
    await using served = await serve({ path: folder.path, exclude: ['excluded.txt'], gitignore: true });
    expect(await served.names('file:///')).toEqual(['plain.txt']);
    expect(await served.text('file:///')).toBe('plain');
    for (const name of ['link', 'absolute', 'second', 'link/a.txt', 'link/config']) {
      expect(await refused(served.text(`file:///${name}`)), name).toBe('not-found');
      expect(await refused(served.metadata(`file:///${name}`)), name).toBe('not-found');
      expect(await refused(served.list(`file:///${name}`)), name).toBe('not-found');
      expect(await served.complete(name), name).toEqual([]);
    }
  });

  it('and the name of the link counts, too', async () => {
    await using folder = await temporaryFolder({ 'plain.txt': 'plain' });
    for (const name of ['.link', 'link.pem', 'id_rsa']) await symlink('plain.txt', folder.at(name));
    await using served = await serve({ path: folder.path });
    expect(await served.names('file:///')).toEqual(['plain.txt']);
    for (const name of ['.link', 'link.pem', 'id_rsa']) {
      expect(await refused(served.text(`file:///${name}`))).toBe('not-found');
    }
  });
});

describe('a mount of one file', () => {
  it('shows that file and nothing else of its folder', async () => {
    await using folder = await temporaryFolder({ 'one.txt': 'one', 'two.txt': 'two', 'sub/one.txt': 'three' });
    await symlink('two.txt', folder.at('link'));
    await using served = await serve({ path: folder.at('one.txt') });
    expect(await served.names('file:///')).toEqual(['one.txt']);
    expect(await served.text('file:///one.txt')).toBe('one');
    expect(await served.complete('')).toEqual(['one.txt']);
    for (const name of ['two.txt', 'sub', 'sub/one.txt', 'link', 'one.txt/../two.txt']) {
      expect(await refused(served.text(`file:///${name}`)), name).toMatch(/not-found|invalid/);
      expect(await refused(served.watch(`file:///${name}`)), name).toMatch(/not-found|invalid/);
    }
  });

  it('that is a link shows the file that it leads to', async () => {
    await using folder = await temporaryFolder({ 'real/one.txt': 'one', 'real/two.txt': 'two' });
    await symlink('real/one.txt', folder.at('link.txt'));
    await using served = await serve({ path: folder.at('link.txt') });
    expect(await served.names('file:///')).toEqual(['one.txt']);
    expect(await refused(served.text('file:///two.txt'))).toBe('not-found');
  });

  it('reports its changes, and not those of its neighbours', async () => {
    await using folder = await temporaryFolder({ 'one.txt': 'one', 'two.txt': 'two' });
    await using served = await serve({ path: folder.at('one.txt') });
    await using watching = await served.watch('file:///one.txt');
    await folder.write('two.txt', 'more');
    await watching.told(() => folder.write('one.txt', 'more'));
    expect(await refused(served.watch('file:///two.txt'))).toBe('not-found');
  });
});
