/** The rules of a configuration as a policy: of those that match, the strictest decides, whatever their order. */
import { createHash } from 'node:crypto';
import type { AccessArea, AccessDecision, AccessPolicy, AccessRequest } from '../../../core/access.ts';
import { ANONYMOUS, type Principal } from '../../../core/context.ts';
import { type AccessOperation, ASKABLE, STRICTNESS } from '../../../core/decided.ts';
import { invalid } from '../../../core/errors.ts';
import { type GlobSubject, globProblem } from '../../../core/glob/index.ts';
import { globsOf } from './arguments.ts';
import type { AccessRule, AccessRules } from './options.ts';
import { compileTarget, type TargetTest } from './target.ts';
import { compileWho, type WhoTest } from './who.ts';

export type { AccessRule, AccessRules, ArgumentValue, Who } from './options.ts';

interface CompiledRule {
  readonly rule: AccessRule;
  readonly who: WhoTest;
  readonly target: TargetTest;
  readonly decision: AccessDecision;
}

/** The rules that are about one principal, the strictest first. */
interface Own {
  readonly rules: readonly CompiledRule[];
  /** Everything is allowed, and no rule stands against it. */
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

/** Decisions that are remembered for all principals together, a few MiB. */
const MAX_REMEMBERED = 20_000;

/** Which rules match a request, for `vitrine explain`. */
export interface RulesPolicy extends AccessPolicy {
  decide(request: AccessRequest): AccessDecision;
  /** The decisions of all rules that match, the one that counts first. */
  matching(request: AccessRequest): readonly AccessDecision[];
}

/** @throws ResourceError `invalid` for a rule that can never do what it says */
export function rulesPolicy({ rules, default: fallback = 'deny' }: AccessRules): RulesPolicy {
  const compiled = rules
    .map(compileRule)
    .sort((a, b) => STRICTNESS.indexOf(a.rule.effect) - STRICTNESS.indexOf(b.rule.effect));
  const otherwise: AccessDecision = { effect: fallback, rule: 'default', byDefault: true };
  const resourceTools: AccessDecision = { effect: 'allow', rule: 'default of resource tools' };
  // Of other rules, the same targets mean something else.
  const edition = createHash('sha256')
    .update(JSON.stringify([rules, fallback]))
    .digest('base64url')
    .slice(0, 16);
  const attributes = compiled.some(({ target }) => target.attributes);
  let known = new WeakMap<Principal, Own>();
  /** Of one request everything is asked for the same principal. */
  let last: { readonly principal: Principal; readonly own: Own } | undefined;
  let remembered = 0;

  function ownOf(principal: Principal): Own {
    if (last?.principal === principal) return last.own;
    const own = known.get(principal) ?? ownRules(principal);
    known.set(principal, own);
    last = { principal, own };
    return own;
  }

  function ownRules(principal: Principal): Own {
    const own = compiled.filter(({ who }) => who.matches(principal));
    const first = own[0];
    // The strictest come first: behind an allowing one there are only allowing ones.
    const open = first === undefined ? fallback === 'allow' : first.rule.effect === 'allow';
    const everything = open && (fallback === 'allow' || own.some(({ target }) => target.everything));
    return { rules: own, everything, readMeansAll: own.every(treatsReadersAlike), decided: new Map() };
  }

  /**
   * Of resources, where nothing but the URI matters, what was decided is remembered: each read asks twice, and most reads
   * are of what was read before.
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
      known = new WeakMap();
      last = undefined;
      remembered = 0;
    }
    return decision;
  }

  function judge(request: AccessRequest): AccessDecision {
    for (const { target, decision } of ownOf(request.principal).rules) {
      if (target.matches(request)) return decision;
    }
    // It does nothing by itself: each resource that it touches is decided on its own.
    if (request.onlyResources === true) return resourceTools;
    return lacking(request) ?? otherwise;
  }

  /** Nothing but scopes is missing: the caller is told which, so that it can ask for them. */
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
      return ownOf(principal).rules.some((each) => opens(each, area));
    },
    couldHide(principal, area) {
      if (fallback === 'hide') return true;
      return ownOf(principal).rules.some((each) => each.rule.effect === 'hide' && isAbout(each, area));
    },
    couldWithhold(principal, area) {
      const rules = ownOf(principal).rules.filter((each) => isAbout(each, area));
      if (rules.some(({ rule }) => rule.effect !== 'allow')) return true;
      return fallback !== 'allow' && !rules.some(({ rule, target }) => target.whole && isSurelyAbout(rule, area));
    },
    everything: (principal) => ownOf(principal).everything,
    readMeansAll: (principal) => ownOf(principal).readMeansAll,
    kindOf(uri, mount) {
      if (attributes) return undefined;
      const asked = { principal: ANONYMOUS, operation: 'read', uri, mount } as const;
      return `${edition} ${compiled.map(({ target }) => (target.matches(asked) ? 1 : 0)).join('')}`;
    },
    // Nobody is asked before something is listed or subscribed to: that would hold for a while only.
    steady: (principal) => (attributes ? undefined : ownOf(principal)),
    matching(request) {
      const all = ownOf(request.principal).rules.filter(({ target }) => target.matches(request));
      return all.length === 0 ? [decide(request)] : all.map(({ decision }) => decision);
    },
  };
}

/** It allows to read nothing that it does not allow to list and to subscribe to, and it forbids neither of these alone. */
function treatsReadersAlike({ rule, target: { operations } }: CompiledRule): boolean {
  const [read, ...rest] = (['read', 'list', 'subscribe'] as const).map((each) => operations.has(each));
  return rule.effect === 'allow' ? !read || !rest.includes(false) : read === true || !rest.includes(true);
}

/** Whether a rule lets something through there. */
function opens({ rule, target }: CompiledRule, { operation, mount }: AccessArea): boolean {
  return (rule.effect === 'allow' || rule.effect === 'ask') && isAbout({ rule, target }, { operation, mount });
}

/** Whether it may be about something there. */
function isAbout({ rule, target }: Pick<CompiledRule, 'rule' | 'target'>, { operation, mount }: AccessArea): boolean {
  if (operation !== undefined && !target.operations.has(operation)) return false;
  return mount === undefined || rule.mounts === undefined || rule.mounts.includes(mount);
}

/** Of a rule that may be about something there, whether it is about all that is there. */
const isSurelyAbout = (rule: AccessRule, { operation, mount }: AccessArea): boolean =>
  operation !== undefined && (mount !== undefined || rule.mounts === undefined);

function compileRule(rule: AccessRule, index: number): CompiledRule {
  const { effect, name = `rule ${index + 1}`, operations = [], rememberSeconds } = rule;
  const problem = problemOf(rule);
  if (problem !== undefined) throw invalid(`Access rule "${name}": ${problem}`);
  return {
    rule,
    who: compileWho(rule.who),
    target: compileTarget({ ...rule, ...(operations.length > 0 && { operations }) }),
    decision: { effect, rule: name, ...(rememberSeconds !== undefined && { rememberMs: rememberSeconds * 1_000 }) },
  };
}

/** All globs of a rule, with what they are matched against. */
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

/** Why a rule makes no sense, in words that say how to make it right. */
export function problemOf(rule: AccessRule): string | undefined {
  const { effect, operations, uris, except, tools, prompts, arguments: args, rememberSeconds } = rule;
  const meant = (operation: AccessOperation): boolean => operations === undefined || operations.includes(operation);
  const unasked = effect === 'ask' ? operations?.find((each) => !ASKABLE.includes(each)) : undefined;
  if (unasked !== undefined)
    return `a human can be asked about ${ASKABLE.join(', ')}, not about ${unasked}; allow or deny that in another rule`;
  if (rememberSeconds !== undefined && effect !== 'ask')
    return 'only what is asked is remembered; remove rememberSeconds';
  if ((tools !== undefined || args !== undefined) && !meant('call'))
    return 'tools and arguments are of the operation call; add it, or remove them';
  if (prompts !== undefined && !meant('prompt')) return 'prompts are of the operation prompt; add it, or remove them';
  for (const [globs, subject] of listsOf(rule)) {
    const vague = globProblem(globs, subject);
    if (vague !== undefined) return vague;
  }
  const resources = operations?.filter((each) => each !== 'call' && each !== 'prompt');
  if ((uris !== undefined || except !== undefined) && resources?.length === 0)
    return 'uris are of resources, not of tools and prompts; name tools or prompts instead';
  return undefined;
}
