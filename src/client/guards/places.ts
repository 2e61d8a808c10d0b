/** Directories that a server must not get by accident, on the systems that there are (SEC-ROOT-1). */

/** The system's, with everything below. */
const SYSTEM: readonly string[] = [
  'bin',
  'boot',
  'dev',
  'etc',
  'lib',
  'lib32',
  'lib64',
  'libx32',
  'lost+found',
  'proc',
  'root',
  'run',
  'sbin',
  'snap',
  'sys',
  'usr',
  'var',
  'private/etc',
  'private/var',
  'System',
  'Library',
  'Applications',
  'cores',
  'Network',
  'nix',
];

/** Directories that hold everybody's or everything, by themselves; what is in them may be meant. */
const COLLECTIONS: readonly string[] = [
  'home',
  'Users',
  'Volumes',
  'mnt',
  'media',
  'opt',
  'srv',
  'tmp',
  'private',
  'private/tmp',
  'data',
];

const WINDOWS_SYSTEM: readonly string[] = [
  'windows',
  'winnt',
  'program files',
  'program files (x86)',
  'programdata',
  'recovery',
  '$recycle.bin',
  'system volume information',
  'boot',
  'perflogs',
  'documents and settings',
];

/** Where keys, sessions and settings lie, wherever that is, with everything below. */
const SECRETS: ReadonlySet<string> = new Set(
  `.ssh .gnupg .gpg .aws .azure .gcloud .kube .docker .config .local .cache .password-store .mozilla .thunderbird .netrc
  .npmrc .pypirc .cargo .terraform.d .vault-token .pki .putty .keychain keychains .wallet .bitcoin .electrum .ethereum
  .mcp-auth .claude .codex .cursor appdata`.split(/\s+/),
);

/**
 * Why a directory is sensitive: `filesystem-root`, `home`, `system` or `secrets`; undefined where it is not. Names are compared
 * without case, since some file systems do.
 * @param home segments of the user's home, where it is not under `/home`, `/Users` or `/root`
 */
export function sensitivity(segments: readonly string[], home: readonly string[] | undefined): string | undefined {
  const path = segments.map(folded);
  const [first, ...rest] = path;
  if (first === undefined) return 'filesystem-root';
  if (path.some((segment) => SECRETS.has(segment))) return 'secrets';
  if (home !== undefined && reaches(path, home.map(folded))) return 'home';
  if (/^[a-z][:|]$/.test(first)) return onDrive(rest);
  // A drive of Windows as other systems see it.
  if (first === 'mnt' && rest[0] !== undefined && /^[a-z]$/.test(rest[0])) return onDrive(rest.slice(1));
  if ((first === 'cygdrive' || first === 'volumes') && rest.length <= 1) return 'filesystem-root';
  if ((first === 'home' || first === 'users') && rest.length <= 1) return 'home';
  if (first === 'users' && rest[1] === 'library') return 'secrets';
  const joined = path.join('/');
  if (COLLECTIONS.some((place) => joined === place.toLowerCase())) return 'system';
  return SYSTEM.some((place) => joined === place.toLowerCase() || joined.startsWith(`${place.toLowerCase()}/`))
    ? 'system'
    : undefined;
}

function onDrive(path: readonly string[]): string | undefined {
  const [first] = path;
  if (first === undefined) return 'filesystem-root';
  if (first === 'users' && path.length <= 2) return 'home';
  // A short name stands for any other one.
  if (path.some((segment) => /~\d+$/.test(segment))) return 'system';
  return WINDOWS_SYSTEM.includes(first) ? 'system' : undefined;
}

/** Whether the path is the other one, or holds it. */
function reaches(path: readonly string[], other: readonly string[]): boolean {
  return path.length <= other.length && path.every((segment, index) => segment === other[index]);
}

/** As Windows has it, a name may end in dots and spaces that do not count. */
function folded(segment: string): string {
  return (
    segment
      .normalize('NFC')
      .toLowerCase()
      .replace(/[. ]+$/, '') || segment
  );
}
