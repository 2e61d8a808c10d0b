/** Recognises keys, tokens and passwords, so that answers can be searched for them and logs can hide them. */

/** Patterns of keys, tokens and passwords. Each is found in linear time. */
export const SECRET_FORMS: readonly (readonly [kind: string, form: RegExp])[] = [
  ['private-key', /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/],
  ['aws-key', /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/],
  ['github-token', /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{40})/],
  ['gitlab-token', /\bgl(?:pat|rt|dt|oas|ptt|ft|soat|cbt|imt|agent)-[A-Za-z0-9_-]{20}/],
  ['slack-token', /\bxox[abeoprs]-[A-Za-z0-9-]{10}|\bxapp-\d-[A-Z0-9]{6}|hooks\.slack\.com\/services\/T[A-Z0-9]{6}/],
  ['google-key', /\bAIza[A-Za-z0-9_-]{35}|\bGOCSPX-[A-Za-z0-9_-]{28}|\bya29\.[A-Za-z0-9_-]{20}/],
  ['model-key', /\bsk-(?:ant-|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{32}/],
  ['stripe-key', /\b[rs]k_live_[A-Za-z0-9]{16}|\bwhsec_[A-Za-z0-9+/]{24}/],
  ['npm-token', /\bnpm_[A-Za-z0-9]{36}/],
  ['pypi-token', /\bpypi-AgE[A-Za-z0-9_-]{40}/],
  ['hugging-face-token', /\bhf_[A-Za-z0-9]{30}/],
  ['sendgrid-key', /\bSG\.[A-Za-z0-9_-]{20}/],
  ['azure-key', /\bAccountKey=[A-Za-z0-9+/]{40}/i],
  ['json-web-token', /\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8}/],
  ['password-in-url', /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#:@]{0,200}:[^\s/?#@]{3,200}@/i],
  ['authorization', /\bauthorization["']?\s{0,5}[:=]\s{0,5}["']?(?:bearer|basic)\s+[A-Za-z0-9+/._~-]{12}/i],
  [
    'assignment',
    /\b(?:password|passwd|secret|api_?key|access_?token|client_?secret)["']?\s{0,5}[:=]\s{0,5}["']?[^\s"'<>${}]{8}/i,
  ],
];

/** Names of fields whose values are secrets. */
export const SECRET_NAMES =
  /^(?:.*[_.-])?(?:password|passwd|passphrase|secret|client[_-]?secret|api[_-]?key|access[_-]?key|private[_-]?key|access[_-]?token|auth[_-]?token|refresh[_-]?token|credentials?)$/i;

/** The text that replaces a secret. */
const COVER = '***';

const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----END))*(?:-----END[^\n-]{0,80}-----)?/g;
const PASSWORD_IN_URL = /(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#:@]{0,200}:)[^\s/?#@]{1,200}(?=@)/gi;
const SCHEME = /\b(bearer|basic|dpop)(\s{1,5})[A-Za-z0-9+/._~=-]{6,}/gi;

/** The name of a secret with the separator after it, then its value: quoted, or up to a character that ends a word. */
const ASSIGNED =
  /((?:pass(?:word|wd|phrase|code)|pwd|secret|credentials?|(?:api|access|private|secret|signing|encryption)[_-]?key|token|cookie|authorization)[\\"']{0,4}\s{0,5}(?:=>|[:=])\s{0,5}\\{0,2})("[^"\n]{1,4096}"|'[^'\n]{1,4096}'|["']?[^\s"',;&<>(){}[\]]{1,4096})/gi;

/** Matches the rest of a token after the part that its pattern recognises. */
const REST = '[^\\s"\'<>,;&(){}\\[\\]]{0,4096}';

const WHOLE_FORMS = SECRET_FORMS.filter(
  ([kind]) => !['private-key', 'password-in-url', 'authorization', 'assignment'].includes(kind),
).map(([, form]) => new RegExp(`(?:${form.source})${REST}`, form.flags.includes('i') ? 'gi' : 'g'));

/** Replaces everything in a text that looks like a secret. The caller limits the length of the text, since the work grows with it. */
export function coverSecrets(text: string): string {
  const covered = text
    .replace(PRIVATE_KEY, COVER)
    .replace(PASSWORD_IN_URL, `$1${COVER}`)
    .replace(SCHEME, `$1$2${COVER}`)
    .replace(ASSIGNED, (whole, name: string, value: string) =>
      /^(?:bearer|basic|dpop)$/i.test(value) || isUri(name, value) ? whole : `${name}${COVER}`,
    );
  return WHOLE_FORMS.reduce((result, form) => result.replace(form, COVER), covered);
}

/** Whether a match is a URI: `1password://vaults` is no password. */
const isUri = (name: string, value: string): boolean => name.endsWith(':') && value.startsWith('//');

/** Covers secrets in JSON data: in every text, and every text or number under a name in `SECRET_NAMES`. */
export function coverSecretsIn(value: unknown, cover: (text: string) => string = coverSecrets): unknown {
  if (typeof value === 'string') return cover(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => coverSecretsIn(each, cover));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      SECRET_NAMES.test(name) && (typeof each === 'string' || typeof each === 'number')
        ? COVER
        : coverSecretsIn(each, cover),
    ]),
  );
}
