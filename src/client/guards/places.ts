/** Directories that a server must not get by accident, on the systems that there are (SEC-ROOT-1). */

import { plainName } from '../file-names.ts';

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

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * The places of keys, sessions, settings and histories, in whatever folder, with everything below. A `*` stands for any end or
 * beginning. In a home everything hidden is one of these.
 */
const SECRETS: readonly string[] = [
  // Keys, and stores of passwords.
  ...words(`.ssh .gnupg .gpg .pki .putty .age .sops .step .password-store .keybase .bitwarden .1password .op .lastpass .vault-token
    .keychain keychains *.keychain-db id_rsa* id_dsa* id_ecdsa* id_ed25519* *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk
    *.ovpn .htpasswd`),
  // Settings of programs and files for their environment, with tokens in them.
  ...words(`.env .env.* .envrc .config .local .cache .var .git-credentials .gitconfig .netrc _netrc .authinfo* .curlrc .wgetrc .npmrc
    .yarnrc* .pypirc .pip .condarc .gem .cargo .m2 .gradle .nuget .composer .docker .dockercfg .dockerconfigjson .kube .helm
    .smbcredentials .davfs2 .rclone.conf .msmtprc .fetchmailrc .mbsyncrc .offlineimaprc .muttrc .mutt .vnc .xauthority .iceauthority`),
  // Clouds and what is run in them.
  ...words(`.aws .azure .gcloud .boto .s3cfg .oci .aliyun .ibmcloud .bluemix .doctl .fly .heroku .vercel .netlify .terraform.d
    .terraformrc .databrickscfg .snowflake .kaggle .huggingface`),
  // Databases.
  ...words('.pgpass pgpass.conf .pg_service.conf .my.cnf .mylogin.cnf .psqlrc .mongorc.js .dbshell'),
  // Histories of what was typed and looked at.
  ...words('.*_history .histfile .zhistory .lesshst .viminfo .python_history .wget-hsts consolehost_history.txt'),
  // Profiles of browsers and mail, and keychains of desktops.
  ...words(`.mozilla .thunderbird .librewolf .waterfox .firefox .tor-browser .torbrowser .opera .vivaldi .purple .irssi .weechat
    .gnome2 .kde .kde4 appdata ntuser.dat`),
  // Wallets.
  ...words('.wallet .bitcoin .litecoin .dogecoin .monero .electrum .ethereum .exodus .solana .foundry wallet.dat'),
  // Agents and editors, with the servers and keys that they know.
  ...words(
    '.mcp-auth .claude* .codex .cursor .gemini .continue .aider* .windsurf .codeium .copilot .openai .anthropic .ollama',
  ),
];

/** Folders in a home that count as hidden ones though they are not: profiles of programs. */
const HOME_SECRETS: ReadonlySet<string> = new Set(['library', 'appdata', 'snap']);

/**
 * Why a directory is sensitive: `filesystem-root`, `home`, `system` or `secrets`; undefined where it is not. Names are compared
 * without case, since some file systems do.
 * @param home segments of the user's home, where it is not under `/home`, `/Users` or `/root`
 */
export function sensitivity(segments: readonly string[], home: readonly string[] | undefined): string | undefined {
  const path = segments.map(folded);
  const [first, ...rest] = path;
  if (first === undefined) return 'filesystem-root';
  const own = home?.map(folded);
  const below = belowHome(path, own)?.[0];
  if (path.some(isSecret) || below?.startsWith('.') === true || HOME_SECRETS.has(below ?? '')) return 'secrets';
  if (own !== undefined && reaches(path, own)) return 'home';
  if (/^[a-z][:|]$/.test(first)) return onDrive(rest);
  // A drive of Windows as other systems see it.
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
  // A short name stands for any other one.
  if (path.some((segment) => /~\d+$/.test(segment))) return 'system';
  return WINDOWS_SYSTEM.includes(first) ? 'system' : undefined;
}

/** Whether the path is the other one, or holds it. */
function reaches(path: readonly string[], other: readonly string[]): boolean {
  return path.length <= other.length && path.every((segment, index) => segment === other[index]);
}

const isSecret = (segment: string): boolean =>
  SECRETS.some((secret) => {
    const [begin = '', end] = secret.split('*');
    if (end === undefined) return segment === begin;
    return segment.length >= begin.length + end.length && segment.startsWith(begin) && segment.endsWith(end);
  });

/** The way from a home to the path; undefined for what is in none. */
function belowHome(path: readonly string[], own: readonly string[] | undefined): readonly string[] | undefined {
  if (own !== undefined && reaches(own, path)) return path.slice(own.length);
  const drive = /^[a-z][:|]$/.test(path[0] ?? '') ? 1 : path[0] === 'mnt' && /^[a-z]$/.test(path[1] ?? '') ? 2 : 0;
  const [homes] = path.slice(drive);
  return homes === 'home' || homes === 'users' ? path.slice(drive + 2) : undefined;
}

/** A drive keeps its colon. */
const folded = (segment: string): string =>
  /^[a-z]:$/i.test(segment) ? segment.toLowerCase() : plainName(segment) || segment;
