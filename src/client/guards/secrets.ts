/** Finds secrets anywhere in the arguments of a tool or prompt before they are sent (SEC-TOOL-4). */
import { SECRET_FORMS, SECRET_NAMES } from '../../core/text/secret-forms.ts';

/** The place of a text that looks like a secret, without the text itself. */
export interface SecretFinding {
  /** A JSON pointer into the arguments (RFC 6901). */
  readonly path: string;
  /** The kind of secret that it looks like, such as `private-key`; `too-deep` for a value that was not searched. */
  readonly kind: string;
}

/** Returns the kinds of secrets that a text looks like. @param name the name of the argument that contains the text */
export type SecretScan = (text: string, name: string) => readonly string[] | Promise<readonly string[]>;

/** The most findings. After these the search ends. */
const MAX_FINDINGS = 50;
const MAX_DEPTH = 32;

/** Returns the kinds of secrets that a text looks like, by its form and by the name of its argument. */
export function scanForSecrets(text: string, name = ''): readonly string[] {
  const byForm = SECRET_FORMS.filter(([, form]) => form.test(text)).map(([kind]) => kind);
  return SECRET_NAMES.test(name) && text !== '' ? [...byForm, 'named-secret'] : byForm;
}

/** Finds secrets in arguments, and in the names of their fields. @param path the JSON pointer of the value */
export async function secretsIn(
  value: unknown,
  scan: SecretScan = scanForSecrets,
  path = '',
  name = '',
  depth = 0,
): Promise<readonly SecretFinding[]> {
  if (typeof value === 'string') return (await scan(value, name)).map((kind) => ({ path, kind }));
  if (typeof value !== 'object' || value === null) return [];
  // Deeper values are not searched, so they count as a finding.
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
