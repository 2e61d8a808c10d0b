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
  const path = segments.map(folded);
  const [first, ...rest] = path;
  if (first === undefined) return 'filesystem-root';
  const homePath = home?.map(folded);
  const below = belowHome(path, homePath)?.[0];
  if (path.some(isSecret) || below?.startsWith('.') === true || HOME_SECRETS.has(below ?? '')) return 'secrets';
  if (homePath !== undefined && holds(path, homePath)) return 'home';
  if (/^[a-z][:|]$/.test(first)) return onDrive(rest);
  // A drive of Windows in WSL, such as `/mnt/c`.
  if (first === 'mnt' && rest[0] !== undefined && /^[a-z]$/.test(rest[0])) return onDrive(rest.slice(1));
  if ((first === 'cygdrive' || first === 'volumes') && rest.length <= 1) return 'filesystem-root';
  if ((first === 'home' || first === 'users') && rest.length <= 1) return 'home';
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

/** Returns the segments of a path after those of a home; undefined if the path is in no home. */
function belowHome(path: readonly string[], home: readonly string[] | undefined): readonly string[] | undefined {
  if (home !== undefined && holds(home, path)) return path.slice(home.length);
  const drive = /^[a-z][:|]$/.test(path[0] ?? '') ? 1 : path[0] === 'mnt' && /^[a-z]$/.test(path[1] ?? '') ? 2 : 0;
  const [homes] = path.slice(drive);
  return homes === 'home' || homes === 'users' ? path.slice(drive + 2) : undefined;
}

/** Returns the name of a segment for comparison. A drive keeps its colon. */
const folded = (segment: string): string =>
  /^[a-z]:$/i.test(segment) ? segment.toLowerCase() : plainName(segment) || segment;
