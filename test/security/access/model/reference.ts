/**
 * The reference: decides, as the documentation describes, who may do what with which thing (`things.ts`). It shares no code with
 * the server.
 */
import { comparable, matchesSurely, mayMatch } from './globs.ts';
import { MOUNTED_SERVERS, type MountName, OWN_TOOLS, type Person, type Thing } from './things.ts';

export type Effect = 'allow' | 'ask' | 'deny' | 'hide';
export type Operation = 'list' | 'read' | 'metadata' | 'subscribe' | 'complete' | 'call' | 'prompt';

/** A rule of a configuration. */
export interface Rule {
  readonly effect: Effect;
  readonly who?: 'anyone' | 'anonymous' | 'authenticated' | { readonly groups: readonly string[] };
  readonly operations?: readonly Operation[];
  readonly mounts?: readonly string[];
  readonly uris?: readonly string[];
  readonly except?: readonly string[];
  readonly mimeTypes?: readonly string[];
  readonly tools?: readonly string[];
  readonly arguments?: Readonly<Record<string, readonly (string | number | boolean)[]>>;
  readonly prompts?: readonly string[];
}

export interface Rules {
  readonly rules: readonly Rule[];
  readonly default: 'allow' | 'deny' | 'hide';
}

/** An operation and its target. */
export interface AccessAttempt {
  readonly operation: Operation;
  readonly mount?: string | undefined;
  readonly uri?: string | undefined;
  readonly template?: boolean | undefined;
  readonly mimeType?: string | undefined;
  readonly name?: string | undefined;
  /** Undefined asks whether there are arguments with which the tool may be called. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly onlyResources?: boolean | undefined;
}

const STRICTEST_FIRST: readonly Effect[] = ['hide', 'deny', 'ask', 'allow'];
const ASKABLE: readonly Operation[] = ['read', 'call', 'prompt'];

export const strictest = (effects: readonly Effect[]): Effect =>
  STRICTEST_FIRST.find((effect) => effects.includes(effect)) ?? 'hide';

/** The permissions of one person under these rules, with these mounts. */
export interface Reference {
  decide(attempt: AccessAttempt): Effect;
  /** Decides about a resource under one of its URIs. */
  ofUri(operation: Operation, mount: MountName, uri: string, mimeType?: string): Effect;
  /** Decides about a thing under the name that its mount lists. */
  of(operation: Operation, thing: Thing): Effect;
  /** Decides about a thing under its own URI, the form that all its spellings share. */
  ofItself(operation: Operation, thing: Thing): Effect;
  /** Finds the mount that a URI belongs to, among the mounts of this case. */
  mountOf(uri: string): MountName | undefined;
  mountOfName(name: string): MountName | undefined;
}

export function createReference(
  { rules, default: otherwise }: Rules,
  person: Person,
  mounts: readonly MountName[],
): Reference {
  const applicable = rules.filter((rule) => isAbout(rule, person));

  function decide(attempt: AccessAttempt): Effect {
    const effects = applicable.filter((rule) => matches(rule, attempt)).map(({ effect }) => effect);
    if (effects.length > 0) return strictest(effects);
    return attempt.onlyResources === true ? 'allow' : otherwise;
  }

  /**
   * A mounted server may treat several spellings as one resource. So rules that do not allow apply also if they match any other
   * spelling that the server might take for this one, and the strictest effect counts.
   */
  function ofUri(operation: Operation, mount: MountName, uri: string, mimeType?: string): Effect {
    const about = (spelled: string): AccessAttempt => ({ operation, mount, uri: spelled, mimeType });
    if (!MOUNTED_SERVERS.includes(mount)) return decide(about(uri));
    const guessed = applicable.filter(
      (rule) => rule.effect !== 'allow' && loosened(uri).some((spelled) => matches(rule, about(spelled))),
    );
    return strictest([decide(about(uri)), decide(about(normalized(uri))), ...guessed.map(({ effect }) => effect)]);
  }

  return {
    decide,
    ofUri,
    of: (operation, thing) => ofUri(operation, thing.mount, thing.listedAs, thing.mimeType),
    ofItself: (operation, thing) => ofUri(operation, thing.mount, thing.uri, thing.mimeType),
    mountOf: (uri) => mountOfUri(uri, mounts),
    mountOfName: (name) => mountOfName(name, mounts),
  };
}

/** Finds a mount by the prefix, then by the scheme, and then the mount that takes any scheme. */
function mountOfUri(uri: string, mounts: readonly MountName[]): MountName | undefined {
  const head = /^(?:ui:\/\/)?([^+:/]+)\+/i.exec(uri)?.[1]?.toLowerCase();
  const named = mounts.find((mount) => mount === head && mount !== 'notes' && mount !== 'raw');
  if (named !== undefined) return named;
  if (mounts.includes('notes') && /^note:/i.test(uri)) return 'notes';
  return mounts.includes('raw') ? 'raw' : undefined;
}

function mountOfName(name: string, mounts: readonly MountName[]): MountName | undefined {
  if (OWN_TOOLS.includes(name)) return undefined;
  if (name.startsWith('up_') && mounts.includes('up')) return 'up';
  return mounts.includes('raw') ? 'raw' : undefined;
}

function isAbout({ who = 'anyone' }: Rule, { principal }: Person): boolean {
  const isAuthenticated = principal.id !== 'anonymous';
  if (who === 'anyone') return true;
  if (who === 'anonymous') return !isAuthenticated;
  if (who === 'authenticated') return isAuthenticated;
  return (principal.groups ?? []).some((group) => who.groups.includes(group));
}

function matches(rule: Rule, attempt: AccessAttempt): boolean {
  const { effect, mounts } = rule;
  if (!operationsOf(rule).includes(attempt.operation)) return false;
  if (mounts !== undefined && (attempt.mount === undefined || !mounts.includes(attempt.mount))) return false;
  switch (attempt.operation) {
    case 'call':
      return anyGlob(rule.tools, attempt.name ?? '', 'text', effect) && argumentsMatch(rule, attempt.arguments);
    case 'prompt':
      return anyGlob(rule.prompts, attempt.name ?? '', 'text', effect);
    default:
      return resourceMatches(rule, attempt);
  }
}

/** A rule that names resources does not apply to tools, and a rule that names tools does not apply to resources. */
function operationsOf({ effect, operations, uris, except, mimeTypes, tools, arguments: args, prompts }: Rule) {
  const names = {
    resources: uris !== undefined || except !== undefined || mimeTypes !== undefined,
    tools: tools !== undefined || args !== undefined,
    prompts: prompts !== undefined,
  };
  const all: readonly Operation[] = ['list', 'read', 'metadata', 'subscribe', 'complete', 'call', 'prompt'];
  const meant = operations ?? (effect === 'ask' ? ASKABLE : all);
  if (!names.resources && !names.tools && !names.prompts) return meant;
  return meant.filter((each) => (each === 'call' ? names.tools : each === 'prompt' ? names.prompts : names.resources));
}

function resourceMatches(
  { effect, uris, except, mimeTypes }: Rule,
  { uri = '', template, mimeType }: AccessAttempt,
): boolean {
  if (!anyGlob(uris, uri, 'uri', effect)) return false;
  // An exception that may or may not match counts only in a rule that allows.
  const isExcepted = effect === 'allow' ? mayMatch : matchesSurely;
  if (except?.some((glob) => isExcepted(glob, uri, 'uri')) === true) return false;
  if (mimeTypes === undefined) return true;
  if (template === true) return false;
  // An unknown type counts against the caller.
  if (mimeType === undefined) return effect !== 'allow';
  return anyGlob(mimeTypes, mimeType, 'text', effect);
}

const anyGlob = (globs: readonly string[] | undefined, text: string, kind: 'uri' | 'text', effect: Effect): boolean =>
  globs === undefined || globs.some((glob) => (effect === 'allow' ? matchesSurely : mayMatch)(glob, text, kind));

function argumentsMatch({ effect, arguments: wanted }: Rule, given: AccessAttempt['arguments']): boolean {
  if (wanted === undefined) return true;
  if (given === undefined) return effect === 'allow' || effect === 'ask';
  return Object.entries(wanted).every(
    ([name, values]) =>
      Object.hasOwn(given, name) &&
      values.some((value) => (effect === 'allow' ? isSurely(value, given[name]) : mayBe(value, given[name]))),
  );
}

const isSurely = (wanted: string | number | boolean, given: unknown): boolean =>
  typeof wanted === 'string' ? typeof given === 'string' && matchesSurely(wanted, given, 'text') : wanted === given;

/** Whether the glob may match the text in any reading. */
function mayBe(wanted: string | number | boolean, given: unknown): boolean {
  if (typeof given === 'object' && given !== null) return Object.values(given).some((each) => mayBe(wanted, each));
  if (given === null || given === undefined) return false;
  const folded = (text: string): string => text.normalize('NFKC').toLowerCase();
  const texts = [String(given), folded(String(given))];
  return texts.some((text) => mayMatch(String(wanted), text, 'text') || mayMatch(folded(String(wanted)), text, 'text'));
}

/** The form that all equivalent spellings of a URI share (RFC 3986, section 6.2). */
export function normalized(published: string): string {
  const { native, publish } = partsOf(published);
  const escaped = native.replace(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : code.toUpperCase();
  });
  const [, scheme = '', rest = ''] = /^([^:]*):(.*)$/s.exec(escaped) ?? [];
  const lower = scheme.toLowerCase();
  if (!rest.startsWith('/')) return publish(`${lower}:${rest}`);
  const [, authority, path = '', after = ''] = /^(?:\/\/([^/?#]*))?([^?#]*)(.*)$/s.exec(rest) ?? [];
  const host = authority?.toLowerCase() ?? (lower === 'file' ? '' : undefined);
  const place = lower === 'file' && host === 'localhost' ? '' : host;
  return publish(`${lower}:${place === undefined ? '' : `//${place}`}${withoutDots(path)}${after}`);
}

function withoutDots(path: string): string {
  const names: string[] = [];
  const all = path.split('/').slice(1);
  for (const [index, name] of all.entries()) {
    const isLast = index === all.length - 1;
    if (name === '..') names.pop();
    else if (name !== '.') names.push(name);
    if (isLast && (name === '.' || name === '..')) names.push('');
  }
  return path === '' ? '' : `/${names.join('/')}`;
}

export const hasDots = (uri: string): boolean => /(?:^|\/)\.{1,2}(?:[/?#]|$)/.test(uri.replace(/%2e/gi, '.'));

/** Gives further URIs that a careless server could take this one for. */
function loosened(uri: string): readonly string[] {
  const single = (text: string): string => {
    const { native, publish } = partsOf(text);
    return publish(native.replace(/(?<=[^:/]|:\/\/)\/{2,}/g, '/').replace(/^([^:]*:\/\/)\/+/, '$1/'));
  };
  const again = (text: string): string => comparable(text.replace(/%25/g, '%'));
  const normal = normalized(uri);
  return [single(uri), single(normal), again(normal), normalized(single(again(normal)))];
}

interface Parts {
  /** The URI as the mounted server knows it. */
  readonly native: string;
  /** Adds the mount's prefix to a URI of the mounted server. */
  readonly publish: (native: string) => string;
}

function partsOf(published: string): Parts {
  const [, ui, below = ''] = /^(ui:\/\/)?up\+(.*)$/is.exec(published) ?? [];
  if (ui !== undefined) return { native: ui + below, publish: (native) => native.replace(/^ui:\/\//, 'ui://up+') };
  if (below !== '') return { native: below, publish: (native) => `up+${native}` };
  return { native: published, publish: (native) => native };
}
