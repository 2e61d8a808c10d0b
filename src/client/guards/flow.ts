/**
 * Stops data that a model has read from one server on its way to another server (SEC-TOOL-5). The arguments of a call do not show
 * whether they contain such data, because a model rewrites it. So the guard does not look at the arguments: it decides by the
 * sources of everything that the model has read in the conversation.
 */
import { compileGlobs } from '../../core/glob/index.ts';
import { decisionsOf, type GuardOptions, runHook } from './decisions.ts';

/** Data that a model has taken in. */
export interface FlowSource {
  /** The name that the host has for the server. */
  readonly server: string;
  /** The URI of a resource. Undefined for the rest of a tool's result. */
  readonly uri?: string | undefined;
  readonly mimeType?: string | undefined;
}

/** A tool that is about to be called. */
export interface FlowTarget {
  readonly server: string;
  readonly tool: string;
}

/**
 * Allows or holds data by its source and by the tool that is about to be called. Every field that is given has to match. Values are
 * globs, such as `mail`, `file:///home/ada/**` or `text/*`. A rule that holds and names a server also holds data of that server
 * whose URI or type is not known.
 */
export interface FlowRule {
  readonly effect: 'allow' | 'hold';
  readonly from?: {
    readonly server?: string;
    /** The mount of a gateway, as in `mail` for `mail+imap://inbox/1`. */
    readonly mount?: string;
    readonly uri?: string;
    readonly mimeType?: string;
  };
  readonly to?: { readonly server?: string; readonly tool?: string };
}

/** A call that the user has to decide about, because no rule does. */
export interface FlowReview {
  readonly to: FlowTarget;
  /** Sources of other servers about which no rule decides: one of each kind. */
  readonly from: readonly FlowSource[];
}

export interface FlowOptions extends Omit<GuardOptions, 'server'> {
  /** The first one that matches a source and a target decides. Default: none. */
  readonly rules?: readonly FlowRule[] | undefined;
  /**
   * Asks the user for consent to a call if no rule decides about data of another server. Without this function such a call is
   * refused. Data of a server may always go back to that server, unless a rule holds it.
   */
  readonly approve?: (review: FlowReview) => boolean | Promise<boolean>;
}

export interface Flow {
  /** Remembers that the model has read data of this source. */
  took(source: FlowSource): void;
  /** Decides whether the tool may get all that the model has read. @throws GuardRefusal `held-back`, `no-consent` or `declined` */
  check(to: FlowTarget, signal?: AbortSignal): Promise<void>;
  /** Forgets everything: a new conversation begins, whose model has read nothing. */
  clear(): void;
}

/** The most kinds of sources. Further ones together count as one source that no rule matches. */
const MAX_KINDS = 1_000;

const UNKNOWN: FlowSource = { server: '' };

/**
 * Follows one conversation. All guards of its servers share it.
 *
 * @example
 * const flow = createFlow({ rules: [{ effect: 'hold', from: { server: 'mail' } }, { effect: 'allow' }] });
 * const tools = guardTools(client, { server: 'web', flow, approve, confirm });
 * flow.took({ server: 'mail', uri: 'imap://inbox/1' });
 *
 * @throws ResourceError `invalid` for a malformed glob
 */
export function createFlow({ rules = [], approve, ...options }: FlowOptions = {}): Flow {
  const decisions = decisionsOf('flow', options);
  const compiled = rules.map(({ effect, from = {}, to = {} }) => {
    // A rule that holds data of a server also holds data of that server without a URI or a type, which may be the same data.
    const unsaid = effect === 'hold' && from.server !== undefined;
    const globs = {
      server: globOf(from.server, effect),
      mount: globOf(from.mount, effect),
      uri: globOf(from.uri, effect, 'uri'),
      mimeType: globOf(from.mimeType, effect),
      toServer: globOf(to.server, effect),
      tool: globOf(to.tool, effect),
    };
    return {
      effect,
      isFrom: ({ server, uri, mimeType }: FlowSource) =>
        globs.server(server, false) &&
        globs.mount(mountOf(uri), unsaid) &&
        globs.uri(uri, unsaid) &&
        globs.mimeType(mimeType, unsaid),
      isTo: ({ server, tool }: FlowTarget) => globs.toServer(server, false) && globs.tool(tool, false),
    };
  });
  type Rule = (typeof compiled)[number];
  /** Sources of the same server that the same rules match are one kind. */
  const kinds = new Map<string, { readonly source: FlowSource; readonly rules: readonly Rule[] }>();

  return {
    took(source) {
      const matched = compiled.filter(({ isFrom }) => isFrom(source));
      const kind = JSON.stringify([source.server, matched.map((rule) => compiled.indexOf(rule))]);
      if (kinds.has(kind)) return;
      if (kinds.size < MAX_KINDS) kinds.set(kind, { source, rules: matched });
      else kinds.set('', { source: UNKNOWN, rules: [] });
    },

    async check(to, signal) {
      const subject = `${to.server} ${to.tool}`;
      const open: FlowSource[] = [];
      for (const { source, rules: matched } of kinds.values()) {
        const effect = matched.find(({ isTo }) => isTo(to))?.effect;
        if (effect === 'hold') return decisions.refuse('held-back', { subject, details: { from: source.server } });
        if (effect === undefined && source.server !== to.server) open.push(source);
      }
      if (open.length === 0) return;
      if (approve === undefined) return decisions.refuse('no-consent', { subject });
      if ((await runHook(decisions, () => approve({ to, from: open }), signal)) !== true)
        return decisions.refuse('declined', { subject });
      decisions.allowed('passed', { subject, details: { from: [...new Set(open.map(({ server }) => server))] } });
    },

    clear: () => kinds.clear(),
  };
}

/** Returns a test of whether a value matches a glob. Without a glob every value does. An absent value does if `unsaid` is true. */
function globOf(glob: string | undefined, effect: FlowRule['effect'], subject: 'text' | 'uri' = 'text') {
  const globs = compileGlobs(glob === undefined ? undefined : [glob], subject);
  return (value: string | undefined, unsaid: boolean): boolean => {
    if (globs === undefined) return true;
    if (value === undefined) return unsaid;
    return effect === 'hold' ? globs.mayMatch(value) : globs.matches(value);
  };
}

/** Returns the prefix of the mount in a URI that a gateway publishes; undefined if the URI has none. */
const mountOf = (uri: string | undefined): string | undefined => /^(?:ui:\/\/)?([^+:/]+)\+/i.exec(uri ?? '')?.[1];
