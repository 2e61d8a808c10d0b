/** Which names of a folder are shown. What is not shown does not exist: it is neither listed nor read, by any path. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ignore } from 'ignore';
import { LRUCache } from 'lru-cache';
import picomatch from 'picomatch';
import { nameProblem } from '../../core/uri.ts';
import type { FilesConfig } from './config.ts';

const VCS_FOLDERS: ReadonlySet<string> = new Set([
  '.git',
  '.hg',
  '.svn',
  '.bzr',
  '.jj',
  '.fslckout',
  '_darcs',
  'cvs',
  '.gitmodules',
]);

/** Names under which credentials are kept, lower case. Documented in `docs/providers/files.md`. */
export const CREDENTIAL_GLOBS: readonly string[] = [
  '.env',
  '.env.*',
  '*.env',
  '.envrc',
  '*.pem',
  '*.key',
  '*.p12',
  '*.pfx',
  '*.p8',
  '*.ppk',
  '*.jks',
  '*.keystore',
  '*.kdb',
  '*.kdbx',
  'id_rsa*',
  'id_dsa*',
  'id_ecdsa*',
  'id_ed25519*',
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.netrc',
  '_netrc',
  '.npmrc',
  '.yarnrc.yml',
  '.pypirc',
  '.git-credentials',
  '.htpasswd',
  'htpasswd',
  '.pgpass',
  '.my.cnf',
  '.dockercfg',
  '.docker',
  '.vault-token',
  '*.tfstate',
  '*.tfstate.*',
  'credentials',
  'credentials.json',
  'client_secret*.json',
  'service-account*.json',
  'secrets.json',
  'secrets.y?(a)ml',
  'kubeconfig',
  'shadow',
];

/** Not credentials although a glob says so: the public half, and examples without values. */
const NOT_CREDENTIALS: readonly string[] = ['id_*.pub', '.env.example', '.env.sample', '.env.template', '.env.dist'];

const isCredential = picomatch([...CREDENTIAL_GLOBS], { dot: true, nocase: true, ignore: [...NOT_CREDENTIALS] });

/** Tells of a name in one directory whether it is shown. */
export interface NameFilter {
  (name: string, isDirectory: boolean): boolean;
  /** Changes when the filter may answer differently although the directory has not changed. */
  readonly version?: string;
}

export interface Visibility {
  /** The filter of a directory that is itself shown. */
  filterIn(directory: readonly string[]): Promise<NameFilter>;
  /** Whether a path is shown, and so each directory on the way to it. */
  shows(segments: readonly string[], isDirectory: boolean): Promise<boolean>;
}

type Rules = Pick<FilesConfig, 'hidden' | 'vcs' | 'credentials' | 'gitignore' | 'exclude'>;

/** @param only the one name at the root that is shown, for a mount of a single file */
export function createVisibility(root: string, rules: Rules, only?: string): Visibility {
  const isExcluded = rules.exclude.length > 0 ? picomatch([...rules.exclude], { dot: true }) : undefined;
  const gitignores = rules.gitignore ? createGitignores(root) : undefined;

  const byName = (name: string): boolean => {
    if (nameProblem(name) !== undefined) return false;
    if (!rules.hidden && name.startsWith('.')) return false;
    if (!rules.vcs && VCS_FOLDERS.has(name.toLowerCase())) return false;
    return rules.credentials || !isCredential(name);
  };

  async function filterIn(directory: readonly string[]): Promise<NameFilter> {
    const ignored = await gitignores?.filterIn(directory);
    const prefix = directory.map((name) => `${name}/`).join('');
    const filter = (name: string, isDirectory: boolean): boolean => {
      if (only !== undefined && directory.length === 0 && name !== only) return false;
      if (!byName(name)) return false;
      if (isExcluded?.(prefix + name)) return false;
      return !ignored?.(name, isDirectory);
    };
    return Object.assign(filter, { version: ignored?.version ?? '' });
  }

  return {
    filterIn,
    async shows(segments, isDirectory) {
      for (const [index, name] of segments.entries()) {
        const filter = await filterIn(segments.slice(0, index));
        if (!filter(name, isDirectory || index < segments.length - 1)) return false;
      }
      return true;
    },
  };
}

interface IgnoreFile {
  readonly mtimeMs: number;
  readonly rules: Ignore;
}

interface Gitignores {
  filterIn(directory: readonly string[]): Promise<NameFilter>;
}

/** `.gitignore` files that are remembered, at most; each is read again when it changes. */
const MAX_GITIGNORES = 10_000;

function createGitignores(root: string): Gitignores {
  const cache = new LRUCache<string, IgnoreFile>({ max: MAX_GITIGNORES });

  async function rulesIn(directory: readonly string[]): Promise<IgnoreFile | undefined> {
    const path = join(root, ...directory, '.gitignore');
    try {
      const { mtimeMs } = await stat(path);
      const known = cache.get(path);
      if (known?.mtimeMs === mtimeMs) return known;
      const { default: ignore } = await import('ignore');
      const file = { mtimeMs, rules: ignore().add(await readFile(path, 'utf8')) };
      cache.set(path, file);
      return file;
    } catch {
      return undefined;
    }
  }

  return {
    async filterIn(directory) {
      const levels = await Promise.all([...directory, ''].map((_, depth) => rulesIn(directory.slice(0, depth))));
      const filter = (name: string, isDirectory: boolean): boolean => {
        const path = [...directory, name];
        // The deepest file that says anything about a path decides, as in git.
        for (let depth = levels.length - 1; depth >= 0; depth--) {
          const relative = path.slice(depth).join('/') + (isDirectory ? '/' : '');
          const verdict = levels[depth]?.rules.test(relative);
          if (verdict?.ignored) return true;
          if (verdict?.unignored) return false;
        }
        return false;
      };
      return Object.assign(filter, { version: levels.map((level) => level?.mtimeMs ?? 0).join() });
    },
  };
}
