/** Decides which names of a folder are shown. A hidden file does not exist for clients: no list has it, and no path reads it. */
import { compileGlobs } from '../../core/glob/index.ts';
import { nameProblem } from '../../core/uri.ts';
import type { FilesConfig } from './config.ts';
import { createGitignores, GITIGNORE, type IgnoreRules } from './gitignore.ts';

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

/** Names of files that hold credentials, in lower case. Documented in `docs/providers/files.md`. */
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
  'secrets.{yml,yaml}',
  'kubeconfig',
  'shadow',
];

/** Names that the globs match but that hold no credentials: public keys, and examples without values. */
const NOT_CREDENTIALS: readonly string[] = ['id_*.pub', '.env.example', '.env.sample', '.env.template', '.env.dist'];

/** Suffixes that editors and people add to the name of a copy. */
const COPY = /(?:~|\.(?:bak|backup|old|orig|save|swp|swo|tmp))+$/i;

const CREDENTIALS = compileGlobs(CREDENTIAL_GLOBS, 'path');
const NOT_CREDENTIAL = compileGlobs(NOT_CREDENTIALS, 'path');

function matchesGlob(name: string): boolean {
  const lower = name.toLowerCase();
  return CREDENTIALS?.matches(lower) === true && NOT_CREDENTIAL?.matches(lower) !== true;
}

/** A copy of a file is as secret as the file: `server.key.bak`, `.env~`, and `.server.key.swp` with its dot. */
function isCredential(name: string): boolean {
  if (matchesGlob(name)) return true;
  const original = name.replace(COPY, '');
  return original !== name && (matchesGlob(original) || matchesGlob(original.replace(/^\./, '')));
}

/** Decides for each name in one directory whether it is shown. */
export interface NameFilter {
  (name: string, isDirectory: boolean): boolean;
  /** Changes when the filter may answer differently although the directory has not changed. */
  readonly version?: string;
}

export interface Visibility {
  /** Returns the filter of a directory that is itself shown. */
  filterIn(directory: readonly string[]): Promise<NameFilter>;
  /** Whether a path is shown, which requires that each directory on the way is shown. */
  shows(segments: readonly string[], isDirectory: boolean): Promise<boolean>;
  /** Whether `exclude`, or the mount of a single file, excludes a path, whatever its name. */
  excludes(segments: readonly string[]): boolean;
  /** The name of files with further rules, such as `.gitignore`; undefined where they do not count. */
  readonly ruleFile: string | undefined;
}

type Rules = Pick<FilesConfig, 'hidden' | 'vcs' | 'credentials' | 'gitignore' | 'exclude'>;

/** Deeper paths are not shown. Operating systems have such limits too, but apply them only later. */
const MAX_DEPTH = 2_048;

/** @param only the single name that is shown at the root, for a mount of one file */
export function createVisibility(root: string, rules: Rules, only?: string): Visibility {
  const excluded = rules.exclude.length > 0 ? compileGlobs(rules.exclude, 'path') : undefined;
  const gitignores = rules.gitignore ? createGitignores(root) : undefined;

  const byName = (name: string): boolean => {
    if (nameProblem(name) !== undefined) return false;
    if (!rules.hidden && name.startsWith('.')) return false;
    if (!rules.vcs && VCS_FOLDERS.has(name.toLowerCase())) return false;
    return rules.credentials || !isCredential(name);
  };

  /** @param prefix the directory from the root, each of its names followed by a slash */
  const isShown = (prefix: string, name: string, isDirectory: boolean, ignored?: IgnoreRules): boolean => {
    if (only !== undefined && prefix === '' && name !== only) return false;
    if (!byName(name) || excluded?.mayMatch(prefix + name)) return false;
    return !ignored?.ignores(prefix + name + (isDirectory ? '/' : ''));
  };

  return {
    excludes: (segments) => only !== undefined || excluded?.mayMatch(segments.join('/')) === true,

    ruleFile: rules.gitignore ? GITIGNORE : undefined,

    async filterIn(directory) {
      const ignored = await gitignores?.rulesIn(directory);
      const prefix = directory.map((name) => `${name}/`).join('');
      const filter = (name: string, isDirectory: boolean): boolean => isShown(prefix, name, isDirectory, ignored);
      return Object.assign(filter, { version: ignored?.version ?? '' });
    },

    async shows(segments, isDirectory) {
      if (segments.length > MAX_DEPTH || !segments.every(byName)) return false;
      // The rules of the deepest directory include those of its parents.
      const ignored = await gitignores?.rulesIn(segments.slice(0, -1));
      let prefix = '';
      return segments.every((name, index) => {
        const shown = isShown(prefix, name, isDirectory || index < segments.length - 1, ignored);
        prefix += `${name}/`;
        return shown;
      });
    },
  };
}
