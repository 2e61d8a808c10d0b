/** The table of everything that exists: people, mounts, and things under their names, each with words that nothing else contains. */
import type { Principal } from '../../../../src/core/context.ts';
import { type SloppyThing, sloppyKey } from './sloppy-server.ts';

/**
 * `docs` and `notes` are texts in memory, `data` is a database, and `up` and `raw` are the same careless server. `notes` and `raw` have
 * no prefix: URIs with the scheme of `notes` belong to `notes`, and all URIs that belong to no other mount belong to `raw`.
 */
export const MOUNT_NAMES = ['docs', 'notes', 'data', 'up', 'raw'] as const;
export type MountName = (typeof MOUNT_NAMES)[number];
export const MOUNTED_SERVERS: readonly MountName[] = ['up', 'raw'];

export interface Person {
  readonly principal: Principal;
  /** Its token in `auth.tokens`; undefined for an anonymous caller. */
  readonly token?: { readonly name: string; readonly groups: readonly string[] };
}

const someone = (name: string, groups: readonly string[]): Person => ({
  principal: { id: `token:${name}`, subject: name, groups, scopes: [] },
  token: { name, groups },
});

export const PEOPLE: readonly Person[] = [
  { principal: { id: 'anonymous' } },
  someone('guest', []),
  someone('staff', ['staff']),
];

export interface Thing {
  readonly mount: MountName;
  /** Its identity: the published URI in the form that all its spellings share. */
  readonly uri: string;
  /** The URI under which its mount lists it. */
  readonly listedAs: string;
  readonly listed: boolean;
  readonly kind: 'text' | 'folder' | 'row';
  readonly mimeType: string;
  /** The folders on the way to it, from the root. */
  readonly parents: readonly string[];
  /** Words in its text, in its name or title, and in its URI; empty if there are none. */
  readonly inText: string;
  readonly inTitle: string;
  readonly inUri: string;
}

/** Paths of the resources in memory. Each has a number that no other path has. */
const DOCS: readonly string[] = [
  'pub/a-d01z.txt',
  'pub/deep/b-d02z.md',
  'secret/key-d03z.txt',
  'secret/deep/more-d04z.md',
  'we (ird)^x/c-d05z.txt',
  'été/e-d06z.txt',
  'e\u0301te\u0301/n-d07z.txt',
  'br[x]{y,z}/f-d08z.txt',
  '!bang+|/g-d09z.txt',
  '100%/h-d10z.txt',
];
const NOTES: readonly string[] = ['open/a-n01z.txt', 'shut/b-n02z.txt', 'c-n03z.md'];
export const FOLDER_PROMPTS = ['greet-p01z', 'hush-p02z'];

export const ROWS = {
  people: ['ann-r01z@x.test', 'bob-r02z@x.test', 'cyd-r03z@y.test'],
  parts: ['eu,k-r04z', 'eu,k-r05z', 'us,k-r06z', 'zz,k-r07z'],
};

/** The things of the careless servers: their URIs, and whether lists show them. */
const SERVED: readonly (Omit<SloppyThing, 'text' | 'title'> & { readonly mark: string })[] = [
  { mark: '01z', uri: 'file:///srv/pub/a-#.txt', listed: true, mimeType: 'text/plain' },
  { mark: '02z', uri: 'file:///srv/secret/key-#.txt', listed: true, mimeType: 'text/plain' },
  { mark: '03z', uri: 'file:///srv/secret/deep/x-#.md', listed: true, mimeType: 'text/markdown' },
  { mark: '04z', uri: 'https://Wiki.Example/Pages/one-#', listed: true, mimeType: 'text/html' },
  { mark: '05z', uri: 'memo:hidden-#', listed: true, mimeType: 'text/plain' },
  { mark: '06z', uri: 'file:///srv/pub/./odd-#.txt', listed: true, mimeType: 'text/plain' },
  { mark: '07z', uri: 'file:///srv/%70ub/esc-#.txt', listed: true, mimeType: 'text/plain' },
  { mark: '08z', uri: 'file:///srv/secret/unlisted-#.txt', listed: false, mimeType: 'text/plain' },
  { mark: '09z', uri: 'ui://panel-#', listed: true, mimeType: 'text/html' },
  {
    mark: '10z',
    uri: 'file:///srv/pub/bundle-#.txt',
    listed: true,
    mimeType: 'text/plain',
    with: ['file:///srv/secret/key-%.txt'],
  },
];

/** `raw` claims to have this URI, which belongs to another mount. */
export const IMITATION = 'docs+memory:///secret/key-d03z.txt';
const IMITATED = 'x03z';

export const OWN_TOOLS: readonly string[] = ['roll', 'wipe'];

const memoryThing = (mount: MountName, root: string, path: string): Thing => {
  const names = path.split('/');
  const mark = /-(\w+)\.\w+$/.exec(path)?.[1] ?? /-(p\d+z)/.exec(path)?.[1] ?? '';
  return {
    mount,
    uri: uriOf(root, names),
    listedAs: uriOf(root, names),
    listed: true,
    kind: 'text',
    mimeType: path.endsWith('.md') ? 'text/markdown' : 'text/plain',
    parents: [root, ...names.slice(0, -1).map((_, index) => uriOf(root, names.slice(0, index + 1)))],
    inText: `text-of-${mark}`,
    inTitle: path.startsWith('prompts/') ? '' : `title-of-${mark}`,
    inUri: `-${mark}`,
  };
};

const uriOf = (root: string, names: readonly string[]): string => root + names.map(segment).join('/');

const segment = (name: string): string =>
  encodeURIComponent(name).replace(/%(?:21|24|26|27|28|29|2A|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);

const folder = (mount: MountName, uri: string, parents: readonly string[]): Thing => ({
  mount,
  uri,
  listedAs: uri,
  listed: true,
  kind: 'folder',
  mimeType: 'inode/directory',
  parents,
  inText: '',
  inTitle: '',
  inUri: '',
});

/** The folders that contain these things. */
function foldersOf(mount: MountName, things: readonly Thing[]): readonly Thing[] {
  const found = new Map<string, Thing>();
  for (const { parents } of things) {
    for (const [index, uri] of parents.entries()) found.set(uri, folder(mount, uri, parents.slice(0, index)));
  }
  return [...found.values()];
}

function memoryThings(mount: MountName, root: string, paths: readonly string[]): readonly Thing[] {
  const things = paths.map((path) => memoryThing(mount, root, path));
  return [...foldersOf(mount, things), ...things];
}

export const row = (table: string, key: string): Thing => {
  const mark = /r\d+z/.exec(key)?.[0] ?? '';
  const root = 'data+sqlite:///';
  const uri = `${root}${table}/${segment(key)}`;
  return {
    mount: 'data',
    uri,
    listedAs: uri,
    listed: true,
    kind: 'row',
    mimeType: 'application/json',
    parents: [root, `${root}${table}`],
    inText: `text-of-${mark}`,
    inTitle: '',
    inUri: `-${mark}`,
  };
};

const published = (mount: MountName, native: string): string =>
  mount === 'raw' ? native : native.startsWith('ui://') ? `ui://up+${native.slice(5)}` : `up+${native}`;

/** The things of one careless server, with their own marks. */
export function served(mount: 'up' | 'raw'): readonly SloppyThing[] {
  const letter = mount === 'up' ? 'u' : 'w';
  const own = SERVED.map(({ mark, uri, with: others, ...rest }) => ({
    ...rest,
    uri: uri.replace('#', letter + mark),
    title: `title-of-${letter}${mark}`,
    text: `text-of-${letter}${mark}`,
    ...(others !== undefined && { with: others.map((each) => each.replace('%', `${letter}02z`)) }),
  }));
  const imitation = {
    uri: IMITATION,
    listed: true,
    title: `title-of-${IMITATED}`,
    text: `text-of-${IMITATED}`,
    mimeType: 'text/plain',
  };
  return mount === 'raw' ? [...own, imitation] : own;
}

function servedThings(mount: 'up' | 'raw'): readonly Thing[] {
  return served(mount).map(({ uri, listed, title, text, mimeType }) => ({
    mount,
    uri: published(mount, uri === IMITATION ? uri : sloppyKey(uri).replace(/\/$/, '')),
    listedAs: published(mount, uri),
    listed,
    kind: 'text',
    mimeType,
    parents: [],
    inText: text,
    inTitle: title,
    inUri: uri === IMITATION ? '' : `-${title.slice('title-of-'.length)}`,
  }));
}

/** Whether a server only claims to have it: its URI belongs to another mount. */
export const isImitation = ({ listedAs, mount }: Thing): boolean => mount === 'raw' && listedAs === IMITATION;

const PROMPT_PATHS = FOLDER_PROMPTS.map((name) => `prompts/${name}.md`);

export const THINGS: readonly Thing[] = [
  ...memoryThings('docs', 'docs+memory:///', [...DOCS, ...PROMPT_PATHS]),
  ...memoryThings('notes', 'note:///', NOTES),
  ...((rows) => [...foldersOf('data', rows), ...rows])(
    Object.entries(ROWS).flatMap(([table, keys]) => keys.map((key) => row(table, key))),
  ),
  ...servedThings('up'),
  ...servedThings('raw'),
];

/** The tool `embed` and the prompt `brief` of a careless server return these URIs, in these spellings. */
export const HANDED_OUT: readonly string[] = [
  'file:///srv/pub/a-#.txt',
  'file:///srv/secret/key-#.txt',
  'file:///srv/s%65cret/deep/x-#3.md',
  'memo:hidden-#5',
];
