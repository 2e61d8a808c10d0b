/** Decides which roots a server may know: only intended ones, and none that exposes a whole machine (SEC-ROOT-1). */
import type { ClientContext, ListRootsRequest, ListRootsResult, Root } from '@modelcontextprotocol/client';
import { encodeSegment, parseTreeUri } from '../../core/uri.ts';
import { forTerminal } from '../safety/terminal.ts';
import { decisionsOf, type GuardOptions, runHook } from './decisions.ts';
import { sensitivity } from './places.ts';

/** The roots of the host: a list, or the answer of its handler. */
export type RootsSource =
  | readonly Root[]
  | ((request: ListRootsRequest, ctx: ClientContext) => ListRootsResult | Promise<ListRootsResult>);

export interface RootsOptions extends GuardOptions {
  /** `file:` URIs that may be exposed although they are sensitive: exactly these, not folders below. None by default. */
  readonly allow?: readonly string[];
  /** The user's home, as a `file:` URI, if it is not in one of the usual places. */
  readonly home?: string;
  /**
   * Returns the real path of a directory, as a `file:` URI, with links resolved: the target of a link is checked too. In Node,
   * use `async (uri) => pathToFileURL(await realpath(fileURLToPath(uri))).href`. By default only the URI is checked.
   */
  readonly resolve?: (uri: string) => string | Promise<string>;
  /** Decides whether a root may be exposed. By default, all roots of the host's list may. */
  readonly approve?: (root: Root, server: string | undefined) => boolean | Promise<boolean>;
  /** The most roots that are exposed; 100 by default. */
  readonly maxRoots?: number;
}

/**
 * Returns the handler of `roots/list`, for `client.setRequestHandler`. A root that is sensitive, or not a plain
 * absolute `file:` URI, is left out, with an event. The others are sent in canonical form, with only URI and name.
 *
 * @example
 * client.setRequestHandler('roots/list', guardRoots([{ uri: 'file:///home/ada/work/notes' }]));
 */
export function guardRoots(roots: RootsSource = [], options: RootsOptions = {}) {
  const { server, allow = [], resolve, approve, maxRoots = 100 } = options;
  const decisions = decisionsOf('roots', options);
  const allowed = new Set(allow.map(canonicalRoot));
  const home = options.home === undefined ? undefined : segmentsOf(options.home);

  return async (request: ListRootsRequest, ctx: ClientContext): Promise<ListRootsResult> => {
    const { signal } = ctx.mcpReq;
    const given =
      typeof roots === 'function' ? (await runHook(decisions, () => roots(request, ctx), signal))?.roots : roots;
    const exposed: Root[] = [];
    for (const root of Array.isArray(given) ? (given as readonly Root[]) : []) {
      if (exposed.length >= maxRoots) {
        decisions.refused('too-many');
        break;
      }
      const uri = canonicalRoot(root?.uri);
      const problem = uri === undefined ? 'not-a-file-uri' : await problemOf(uri, signal);
      if (uri === undefined || problem !== undefined) {
        decisions.refused(problem ?? 'not-a-file-uri', { subject: String(root?.uri) });
        continue;
      }
      const clean: Root = { uri, ...(root.name !== undefined && { name: forTerminal(root.name, { maxLength: 200 }) }) };
      if (approve !== undefined && (await runHook(decisions, () => approve(clean, server), signal)) !== true) {
        decisions.refused('declined', { subject: uri });
        continue;
      }
      decisions.allowed('exposed', { subject: uri });
      exposed.push(clean);
    }
    return { roots: exposed };
  };

  async function problemOf(uri: string, signal: AbortSignal): Promise<string | undefined> {
    if (allowed.has(uri)) return undefined;
    const problem = sensitivity(segmentsOf(uri) ?? [], home);
    if (problem !== undefined || resolve === undefined) return problem;
    // The real path is checked as well as the given one.
    const real = canonicalRoot(await runHook(decisions, () => resolve(uri), signal));
    if (real === undefined) return 'not-a-file-uri';
    return allowed.has(real) ? undefined : sensitivity(segmentsOf(real) ?? [], home);
  }
}

function segmentsOf(uri: unknown): readonly string[] | undefined {
  if (typeof uri !== 'string') return undefined;
  try {
    return parseTreeUri(uri, 'file').segments;
  } catch {
    return undefined;
  }
}

/** Returns the canonical spelling: no host, no trailing slash, canonical escapes, the drive letter in upper case. */
function canonicalRoot(uri: unknown): string | undefined {
  const segments = segmentsOf(uri);
  if (segments === undefined) return undefined;
  const [first = '', ...rest] = segments;
  const drive = /^[a-z][:|]$/i.test(first) ? [`${first.slice(0, 1).toUpperCase()}:`] : [encodeSegment(first)];
  return `file:///${[...(first === '' ? [] : drive), ...rest.map(encodeSegment)].join('/')}`;
}
