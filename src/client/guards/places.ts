/** Directories that a host should not show to a server by accident, on all operating systems (SEC-ROOT-1). */

import { plainName } from '../file-names.ts';

/** Directories of the operating system; everything below them counts, too. */
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
  // The devices of Windows: `\\?\` and `\??\`.
  '?',
  '??',
];

/** Directories that hold the files of everybody. Only the directories themselves count: a folder in one may be a fine root. */
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

/** A drive of Windows: by itself, at the root as in MSYS, and in the folders of WSL, Cygwin and Docker that hold drives. */
const DRIVE = /^(?:(?:mnt|cygdrive|host_mnt|mnt\/host)\/)?([a-z])[:|]?(?:\/|$)/;

/** Further paths of the root: of the disk of a Mac, and of a system in WSL. */
const ROOT = /^(?:volumes\/macintosh hd|mnt\/wslg\/distro|wsl(?:\$|\.localhost)\/[^/]+)(?:\/|$)/;

/** Directories that hold only disks and whole systems. */
const DISKS: readonly string[] = ['volumes', 'cygdrive', 'host_mnt', 'wsl$', 'wsl.localhost'];

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * Names of files and folders with keys, sessions, settings or histories, in any folder; everything below them counts, too. A `*`
 * stands for any text. A hidden name directly in a home counts as well, with everything below it.
 */
const SECRETS: readonly string[] = [
  // Keys, and stores of passwords.
  ...words(`.ssh .gnupg .gpg .pki .putty .age .sops .step .password-store .keybase .bitwarden .1password .op .lastpass .vault-token
    .keychain keychains *.keychain-db id_rsa* id_dsa* id_ecdsa* id_ed25519* *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk
    *.ovpn .htpasswd`),
  // Settings of programs and environment files, which may contain tokens.
  ...words(`.env .env.* .envrc .config .local .cache .var .git-credentials .gitconfig .netrc _netrc .authinfo* .curlrc .wgetrc .npmrc
    .yarnrc* .pypirc .pip .condarc .gem .cargo .m2 .gradle .nuget .composer .docker .dockercfg .dockerconfigjson .kube .helm
    .smbcredentials .davfs2 .rclone.conf .msmtprc .fetchmailrc .mbsyncrc .offlineimaprc .muttrc .mutt .vnc .xauthority .iceauthority`),
  // Credentials for clouds and services in them.
  ...words(`.aws .azure .gcloud .boto .s3cfg .oci .aliyun .ibmcloud .bluemix .doctl .fly .heroku .vercel .netlify .terraform.d
    .terraformrc .databrickscfg .snowflake .kaggle .huggingface`),
  // Databases.
  ...words('.pgpass pgpass.conf .pg_service.conf .my.cnf .mylogin.cnf .psqlrc .mongorc.js .dbshell'),
  // Histories of commands and files.
  ...words('.*_history .histfile .zhistory .lesshst .viminfo .python_history .wget-hsts consolehost_history.txt'),
  // Profiles of browsers and mail, and keychains of desktops.
  ...words(`.mozilla .thunderbird .librewolf .waterfox .firefox .tor-browser .torbrowser .opera .vivaldi .purple .irssi .weechat
    .gnome2 .kde .kde4 appdata ntuser.dat`),
  // Wallets.
  ...words('.wallet .bitcoin .litecoin .dogecoin .monero .electrum .ethereum .exodus .solana .foundry wallet.dat'),
  // Settings of agents and editors, with servers and keys.
  ...words(
    '.mcp-auth .claude* .codex .cursor .gemini .continue .aider* .windsurf .codeium .copilot .openai .anthropic .ollama',
  ),
];

/** Folders in a home with profiles of programs. They count like hidden ones. */
const HOME_SECRETS: ReadonlySet<string> = new Set(['library', 'appdata', 'snap']);

/**
 * Tells why a directory is sensitive: `filesystem-root`, `home`, `system` or `secrets`; undefined if it is not. Case does not
 * count, because it does not count in some file systems.
 * @param home the segments of the user's home. Given it, the home and every folder that contains it count as `home`, wherever
 *   it is
 */
export function sensitivity(segments: readonly string[], home: readonly string[] | undefined): string | undefined {
  // `C:notes` starts at the current directory of the drive, which may be any.
  if (/^[a-z][:|]./i.test(segments[0] ?? '')) return 'filesystem-root';
  const path = placeOf(segments);
  const [first, ...rest] = path;
  if (first === undefined) return 'filesystem-root';
  const homePath = home === undefined ? undefined : placeOf(home);
  // The user's home may contain the homes of others, as `/` does in some containers.
  const homes = [belowHome(path, homePath), belowHome(path, undefined)];
  if (path.some(isSecret) || homes.some((below) => isHomeSecret(below?.[0] ?? ''))) return 'secrets';
  if (homePath !== undefined && holds(path, homePath)) return 'home';
  if (isDrive(first)) return onDrive(rest);
  if (DISKS.includes(first) && rest.length <= 1) return 'filesystem-root';
  if (homes.some((below) => below?.length === 0)) return 'home';
  const joined = path.join('/');
  if (COLLECTIONS.some((place) => joined === place.toLowerCase())) return 'system';
  return SYSTEM.some((place) => joined === place.toLowerCase() || joined.startsWith(`${place.toLowerCase()}/`))
    ? 'system'
    : undefined;
}

/** Returns one form for all paths of a place, for comparison: folded, with `c:` for a drive, and without further paths of the root. */
function placeOf(segments: readonly string[]): readonly string[] {
  let path = segments.map(folded).join('/');
  for (let root = ROOT.exec(path); root !== null; root = ROOT.exec(path)) path = path.slice(root[0].length);
  const drive = DRIVE.exec(path);
  if (drive !== null) path = [`${drive[1]}:`, path.slice(drive[0].length)].filter((part) => part !== '').join('/');
  return path === '' ? [] : path.split('/');
}

const isDrive = (segment: string | undefined): boolean => segment?.length === 2 && segment.endsWith(':');

function onDrive(path: readonly string[]): string | undefined {
  const [first] = path;
  if (first === undefined) return 'filesystem-root';
  if (first === 'users' && path.length <= 2) return 'home';
  // A short name such as `PROGRA~1` may stand for any longer one.
  if (path.some((segment) => /~\d+$/.test(segment))) return 'system';
  return WINDOWS_SYSTEM.includes(first) ? 'system' : undefined;
}

/** Tells whether a path is the other one, or contains it. */
function holds(path: readonly string[], other: readonly string[]): boolean {
  return path.length <= other.length && path.every((segment, index) => segment === other[index]);
}

const isSecret = (segment: string): boolean =>
  SECRETS.some((secret) => {
    const [begin = '', end] = secret.split('*');
    if (end === undefined) return segment === begin;
    return segment.length >= begin.length + end.length && segment.startsWith(begin) && segment.endsWith(end);
  });

const isHomeSecret = (name: string): boolean => name.startsWith('.') || HOME_SECRETS.has(name);

/** Returns the segments of a path after those of a home; undefined if the path is in no home. */
function belowHome(path: readonly string[], home: readonly string[] | undefined): readonly string[] | undefined {
  if (home !== undefined && holds(home, path)) return path.slice(home.length);
  const disk = isDrive(path[0]) ? 1 : path[0] === 'volumes' ? 2 : 0;
  const homes = path[disk];
  return homes === 'home' || homes === 'users' ? path.slice(disk + 2) : undefined;
}

/** Returns the name of a segment for comparison. A drive keeps its colon. A slash that folding makes does not part names. */
const folded = (segment: string): string =>
  /^[a-z]:$/i.test(segment) ? segment.toLowerCase() : (plainName(segment) || segment).replaceAll('/', '_');
