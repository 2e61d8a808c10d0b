/** Secrets in what is about to leave: in the arguments of a tool, wherever they are in them (SEC-TOOL-4). */

/** A place that looks like a secret. The secret itself is not in it. */
export interface SecretFinding {
  /** A JSON pointer into the arguments (RFC 6901). */
  readonly path: string;
  /** What it looks like, such as `private-key`. */
  readonly kind: string;
}

/** Looks at one text. `name` is the name of the argument that it is in. */
export type SecretScan = (text: string, name: string) => readonly string[] | Promise<readonly string[]>;

/** Findings that are told; the rest is not looked for. */
const MAX_FINDINGS = 50;
const MAX_DEPTH = 32;

/** Forms that keys and tokens are given so that they are recognised. Each is found in linear time. */
const FORMS: readonly (readonly [kind: string, form: RegExp])[] = [
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

/** Names of arguments that have secrets as values. */
const NAMES =
  /^(?:.*[_.-])?(?:password|passwd|passphrase|secret|client[_-]?secret|api[_-]?key|access[_-]?key|private[_-]?key|access[_-]?token|auth[_-]?token|refresh[_-]?token|credentials?)$/i;

/** What a text looks like, by form and by the name of its argument. */
export function scanForSecrets(text: string, name = ''): readonly string[] {
  const byForm = FORMS.filter(([, form]) => form.test(text)).map(([kind]) => kind);
  return NAMES.test(name) && text !== '' ? [...byForm, 'named-secret'] : byForm;
}

/** The secrets in arguments, names of fields included. */
export async function secretsIn(
  value: unknown,
  scan: SecretScan = scanForSecrets,
  path = '',
  name = '',
  depth = 0,
): Promise<readonly SecretFinding[]> {
  if (typeof value === 'string') return (await scan(value, name)).map((kind) => ({ path, kind }));
  if (typeof value !== 'object' || value === null) return [];
  // What is not looked at is not known to be harmless.
  if (depth >= MAX_DEPTH) return [{ path, kind: 'too-deep' }];
  const found: SecretFinding[] = [];
  for (const [key, entry] of Object.entries(value)) {
    const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const inName = Array.isArray(value) ? [] : (await scan(key, '')).map((kind) => ({ path: at, kind }));
    found.push(...inName, ...(await secretsIn(entry, scan, at, Array.isArray(value) ? name : key, depth + 1)));
    if (found.length >= MAX_FINDINGS) return found.slice(0, MAX_FINDINGS);
  }
  return found;
}
