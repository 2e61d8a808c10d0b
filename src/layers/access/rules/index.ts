/** Makes a policy from the rules of a configuration. The strictest rule that matches decides, whatever the order. */
import { createHash } from 'node:crypto';
import type { AccessArea, AccessDecision, AccessPolicy, AccessRequest } from '../../../core/access.ts';
import { ANONYMOUS, type Principal } from '../../../core/context.ts';
import { type AccessOperation, ASKABLE, STRICTNESS } from '../../../core/decided.ts';
import { invalid } from '../../../core/errors.ts';
import { type GlobSubject, globProblem } from '../../../core/glob/index.ts';
import { STATE_MOUNT } from '../../../core/mounts.ts';
import { globsOf } from './arguments.ts';
import type { AccessRule, AccessRules } from './options.ts';
import { compileTarget, type TargetTest } from './target.ts';
import { compileWho, type WhoTest } from './who.ts';

export type { AccessRule, AccessRules, ArgumentValue, Who } from './options.ts';

interface CompiledRule {
  readonly rule: AccessRule;
  readonly who: WhoTest;
  readonly target: TargetTest;
  /** The part of the rule that names Vitrine's own state. */
  readonly ofState: TargetTest | undefined;
  readonly decision: AccessDecision;
}

/** The rules that apply to one principal, and the facts that follow from them. */
interface Own {
  readonly rules: readonly CompiledRule[];
  /** The principal may do everything: a rule or the default allows it, and no rule limits it. */
  readonly everything: boolean;
  /** The principal may list and subscribe to whatever it may read. */
  readonly readMeansAll: boolean;
  /** Decisions about resources, by operation and URI. */
  readonly decided: Map<AccessOperation, Map<string, Remembered>>;
}

interface Remembered {
  readonly mount: string | undefined;
  readonly decision: AccessDecision;
}

/** The most decisions that are kept, over all principals: a few MiB. */
const MAX_REMEMBERED = 20_000;

/** A policy that also says which rules match a request, for `vitrine explain`. */
export interface RulesPolicy extends AccessPolicy {
  decide(request: AccessRequest): AccessDecision;
  /** The decisions of all rules that match; if none does, the only one is of the default. The first one decides. */
  matching(request: AccessRequest): readonly AccessDecision[];
}

/** @throws ResourceError `invalid` for a rule that can never do what it says */
export function rulesPolicy({ rules, default: fallback = 'deny' }: AccessRules): RulesPolicy {
  const compiled = rules
    .map(compileRule)
    .sort((a, b) => STRICTNESS.indexOf(a.rule.effect) - STRICTNESS.indexOf(b.rule.effect));
  const otherwise: AccessDecision = { effect: fallback, rule: 'default', byDefault: true };
  const resourceTools: AccessDecision = { effect: 'allow', rule: 'default of resource tools' };
  // Distinguishes `kindOf` of these rules from that of other rules, whose targets mean something else.
  const edition = createHash('sha256')
    .update(JSON.stringify([rules, fallback]))
    .digest('base64url')
    .slice(0, 16);
  const attributes = compiled.some(({ target }) => target.attributes);
  let byPrincipal = new WeakMap<Principal, Own>();
  /** The latest principal: all decisions of one request are about the same one. */
  let last: { readonly principal: Principal; readonly own: Own } | undefined;
  let remembered = 0;

  function ownOf(principal: Principal): Own {
    if (last?.principal === principal) return last.own;
    const own = byPrincipal.get(principal) ?? ownRules(principal);
    byPrincipal.set(principal, own);
    last = { principal, own };
    return own;
  }

  function ownRules(principal: Principal): Own {
    const own = compiled.filter(({ who }) => who.matches(principal));
    const first = own[0];
    // The strictest come first. So if the first rule allows, all others allow, too.
    const open = first === undefined ? fallback === 'allow' : first.rule.effect === 'allow';
    const everything = open && (fallback === 'allow' || own.some(({ target }) => target.everything));
    return { rules: own, everything, readMeansAll: own.every(treatsReadersAlike), decided: new Map() };
  }

  /**
   * Decides, and keeps decisions that depend on nothing but the URI of a resource. That pays off: each read asks twice, and
   * most reads repeat an earlier one.
   */
  function decide(request: AccessRequest): AccessDecision {
    const { operation, uri, mount, template } = request;
    if (attributes || uri === undefined || template === true || operation === 'call' || operation === 'prompt')
      return judge(request);
    const { decided } = ownOf(request.principal);
    let byUri = decided.get(operation);
    const before = byUri?.get(uri);
    if (before !== undefined && before.mount === mount) return before.decision;
    const decision = judge(request);
    if (byUri === undefined) {
      byUri = new Map();
      decided.set(operation, byUri);
    }
    byUri.set(uri, { mount, decision });
    if (++remembered > MAX_REMEMBERED) {
      byPrincipal = new WeakMap();
      last = undefined;
      remembered = 0;
    }
    return decision;
  }

  function judge(request: AccessRequest): AccessDecision {
    for (const { target, decision } of ownOf(request.principal).rules) {
      if (target.matches(request)) return decision;
    }
    // Such a tool only accesses resources, and each of them is decided about on its own.
    if (request.onlyResources === true) return resourceTools;
    return lacking(request) ?? otherwise;
  }

  /** Denies, and names the scopes with which a rule would let the caller through, so that it can ask for them. */
  function lacking(request: AccessRequest): AccessDecision | undefined {
    if (fallback !== 'deny') return undefined;
    for (const { rule, who, target } of compiled) {
      if (rule.effect !== 'allow' && rule.effect !== 'ask') continue;
      const scopes = who.lacks(request.principal);
      if (scopes !== undefined && target.matches(request)) return { ...otherwise, scopes };
    }
    return undefined;
  }

  return {
    name: 'rules',
    attributes,
    hides: fallback === 'hide' || rules.some(({ effect }) => effect === 'hide'),
    scopes: compiled.some(({ who }) => who.scopes),
    decide,
    could(principal, area) {
      if (fallback === 'allow') return true;
      return ownOf(principal).rules.some((rule) => opens(rule, area));
    },
    couldHide(principal, area) {
      if (fallback === 'hide') return true;
      return ownOf(principal).rules.some(
        (compiledRule) => compiledRule.rule.effect === 'hide' && isAbout(compiledRule, area),
      );
    },
    couldWithhold(principal, area) {
      const rules = ownOf(principal).rules.filter((rule) => isAbout(rule, area));
      if (rules.some(({ rule }) => rule.effect !== 'allow')) return true;
      return fallback !== 'allow' && !rules.some(({ rule, target }) => target.whole && isSurelyAbout(rule, area));
    },
    everything: (principal) => ownOf(principal).everything,
    readMeansAll: (principal) => ownOf(principal).readMeansAll,
    kindOf(uri, mount) {
      if (attributes) return undefined;
      const request = { principal: ANONYMOUS, operation: 'read', uri, mount } as const;
      return `${edition} ${compiled.map(({ target }) => (target.matches(request) ? 1 : 0)).join('')}`;
    },
    operators: compiled.some(({ ofState }) => ofState !== undefined)
      ? {
          may(principal, uri) {
            const request = { principal, operation: 'read', uri, mount: STATE_MOUNT } as const;
            return ownOf(principal).rules.some(({ ofState }) => ofState?.matches(request) === true);
          },
        }
      : undefined,
    // Effects of `ask` do not make this unsteady: no human is asked before a list or a subscription.
    steady: (principal) => (attributes ? undefined : ownOf(principal)),
    matching(request) {
      const all = ownOf(request.principal).rules.filter(({ target }) => target.matches(request));
      return all.length === 0 ? [decide(request)] : all.map(({ decision }) => decision);
    },
  };
}

/**
 * Whether a rule keeps to this: whoever may read a resource may list it and subscribe to it. A rule that allows reads has to
 * allow both, and any other rule about one of the two has to be about reads, too.
 */
function treatsReadersAlike({ rule, target: { operations } }: CompiledRule): boolean {
  const [read, ...rest] = (['read', 'list', 'subscribe'] as const).map((operation) => operations.has(operation));
  return rule.effect === 'allow' ? !read || !rest.includes(false) : read === true || !rest.includes(true);
}

/** Whether a rule lets some request in an area through. */
function opens({ rule, target }: CompiledRule, { operation, mount }: AccessArea): boolean {
  return (rule.effect === 'allow' || rule.effect === 'ask') && isAbout({ rule, target }, { operation, mount });
}

/** Whether a rule may match some request in an area. */
function isAbout({ rule, target }: Pick<CompiledRule, 'rule' | 'target'>, { operation, mount }: AccessArea): boolean {
  if (operation !== undefined && !target.operations.has(operation)) return false;
  return mount === undefined || rule.mounts === undefined || rule.mounts.includes(mount);
}

/** Whether a rule that may match requests in an area surely matches all of them. */
const isSurelyAbout = (rule: AccessRule, { operation, mount }: AccessArea): boolean =>
  operation !== undefined && (mount !== undefined || rule.mounts === undefined);

/** The part of an allowing rule that names Vitrine's own state. A rule about everything does not make a principal an operator. */
function namingState(rule: AccessRule): AccessRule | undefined {
  if (rule.effect !== 'allow') return undefined;
  if (rule.mounts?.includes(STATE_MOUNT) === true) return rule;
  const uris = rule.uris?.filter((glob) => glob.startsWith(`${STATE_MOUNT}+`)) ?? [];
  return uris.length === 0 ? undefined : { ...rule, uris };
}

function compileRule(rule: AccessRule, index: number): CompiledRule {
  const { effect, name = `rule ${index + 1}`, rememberSeconds } = rule;
  const problem = problemOf(rule);
  if (problem !== undefined) throw invalid(`Access rule "${name}": ${problem}`);
  const ofState = namingState(rule);
  return {
    rule,
    who: compileWho(rule.who),
    target: compileTarget(rule),
    ofState: ofState && compileTarget(ofState),
    decision: { effect, rule: name, ...(rememberSeconds !== undefined && { rememberMs: rememberSeconds * 1_000 }) },
  };
}

/** All lists of globs of a rule, each with the kind of text that it matches. */
function listsOf(rule: AccessRule): readonly (readonly [readonly string[] | undefined, GlobSubject])[] {
  const { uris, except, paths, tools, prompts, mimeTypes, arguments: args = {} } = rule;
  const texts = Object.values(args).flatMap(globsOf);
  return [
    [uris, 'uri'],
    [except, 'uri'],
    [paths, 'path'],
    [tools, 'text'],
    [prompts, 'text'],
    [mimeTypes, 'text'],
    [texts, 'text'],
  ];
}

/** Returns the name of a list without entries: with it, a rule that forbids would forbid nothing, and nobody would notice. */
function emptyListOf(rule: AccessRule): string | undefined {
  const { who, arguments: args = {} } = rule;
  const lists = [
    ...Object.entries(rule),
    ...Object.entries(typeof who === 'object' ? who : {}).map(([name, list]) => [`who.${name}`, list] as const),
    ...Object.entries(args).map(([name, list]) => [`arguments.${name}`, list] as const),
  ];
  return lists.find(([, list]) => Array.isArray(list) && list.length === 0)?.[0];
}

/** Says why a rule makes no sense, and how to correct it; undefined if the rule is right. */
export function problemOf(rule: AccessRule): string | undefined {
  const { effect, operations, uris, except, tools, prompts, arguments: args, rememberSeconds } = rule;
  const empty = emptyListOf(rule);
  if (empty !== undefined) return `${empty} is an empty list; name at least one entry in it, or remove the list`;
  const includes = (operation: AccessOperation): boolean => operations === undefined || operations.includes(operation);
  const notAskable = effect === 'ask' ? operations?.find((operation) => !ASKABLE.includes(operation)) : undefined;
  if (notAskable !== undefined)
    return `a human can be asked about ${ASKABLE.join(', ')}, not about ${notAskable}; allow or deny that in another rule`;
  if (rememberSeconds !== undefined && effect !== 'ask')
    return 'only what is asked is remembered; remove rememberSeconds';
  if ((tools !== undefined || args !== undefined) && !includes('call'))
    return 'tools and arguments need the operation call; add it, or remove them';
  if (prompts !== undefined && !includes('prompt')) return 'prompts need the operation prompt; add it, or remove them';
  for (const [globs, subject] of listsOf(rule)) {
    const vague = globProblem(globs, subject);
    if (vague !== undefined) return vague;
  }
  const resources = operations?.filter((operation) => operation !== 'call' && operation !== 'prompt');
  if ((uris !== undefined || except !== undefined) && resources?.length === 0)
    return 'uris and except apply to resources, not to tools and prompts; name tools or prompts instead';
  return undefined;
}
