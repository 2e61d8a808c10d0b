/** Lets policies in Cedar, instead of rules, decide in the access layer who may do what. */
import { LRUCache } from 'lru-cache';
import {
  type AccessDecision,
  type AccessPolicy,
  type AccessRequest,
  ASKABLE,
  invalid,
  type Log,
  type PolicyPlugIn,
  SILENT,
  STRICTNESS,
} from 'vitrine/plug-in';
import { couldIn } from './area.ts';
import { type Engine, loadEngine, wordsOf } from './engine.ts';
import { configuredEntities, uidsIn } from './entities.ts';
import { evaluator, type PolicySet } from './evaluate.ts';
import { entitiesIn, textOf } from './files.ts';
import { type CedarRule, parsePolicies } from './policies.ts';
import { type CedarRequest, cedarRequest, LOOKED_AT, type LookedAt, RESOURCE_ATTRIBUTES } from './request.ts';

/** The policies of an access policy in Cedar, and the things beside them. */
export interface CedarOptions {
  /** Policies as text, in Cedar 4. */
  readonly policies: string;
  /**
   * Entities in Cedar's JSON, added to those of each request: the parents of groups, further attributes of principals.
   * Default: none.
   */
  readonly entities?: readonly object[] | undefined;
  /** The schema that the policies are checked against once, at the beginning: text or Cedar's JSON. Default: no check. */
  readonly schema?: string | object | undefined;
  /** The names of policies and entities in error messages, such as their files. Default: `policies` and `entities`. */
  readonly names?: { readonly policies: string; readonly entities: string } | undefined;
  /** The log for the errors of policies that cannot be evaluated. Default: they are not logged. */
  readonly log?: Log | undefined;
}

/** An access policy that also tells which policies match a request, for `vitrine explain`. */
export interface CedarPolicy extends AccessPolicy {
  decide(request: AccessRequest): AccessDecision;
  /** Returns the decisions of all policies that match, the strictest first: that one counts. */
  matching(request: AccessRequest): readonly AccessDecision[];
  close(): Promise<void>;
}

/** The most requests whose decisions are cached. The least recently used one is dropped first. */
const MAX_DECISIONS = 10_000;

/** The most characters of all keys of that cache. */
const MAX_DECISION_CHARS = 8 * 1024 * 1024;

/** Milliseconds before another failure of the same policy is logged. */
const LOG_INTERVAL_MS = 60_000;

const BY_DEFAULT: AccessDecision = { effect: 'deny', rule: 'default', byDefault: true };
const RESOURCE_TOOLS: AccessDecision = { effect: 'allow', rule: 'default of resource tools' };
const INEXPRESSIBLE: AccessDecision = { effect: 'deny', rule: 'arguments that Cedar cannot hold' };

/**
 * Makes an access policy from Cedar policies. It denies whatever no policy permits. If several policies match, the strictest
 * decides: `forbid` with `@effect("hide")`, `forbid`, `permit` with `@effect("ask")`, `permit`. A policy that cannot be
 * evaluated counts as a `forbid`.
 * @throws ResourceError `invalid` where Cedar is not installed, and for invalid policies, entities and annotations, with
 *   their place
 */
export async function cedarPolicy({
  policies,
  entities = [],
  schema,
  names = { policies: 'policies', entities: 'entities' },
  log = SILENT,
}: CedarOptions): Promise<CedarPolicy> {
  const cedar = await loadEngine();
  const rules = parsePolicies(cedar, policies, names.policies);
  const all = [...rules.values()];
  const text = JSON.stringify(all.map(({ json }) => json));
  const mentioned = new Set<string>(LOOKED_AT.filter((name) => text.includes(JSON.stringify(name))));
  const mentions = (name: LookedAt): boolean => mentioned.has(name);
  const configured = configuredEntities(cedar, entities, uidsIn(JSON.parse(text)), names.entities);
  const set: PolicySet = { staticPolicies: Object.fromEntries([...rules].map(([key, { json }]) => [key, json])) };
  if (schema !== undefined) validate(cedar, set, schema, { rules, file: names.policies });
  const { evaluate, forget } = evaluator(cedar, set, names.policies);
  const cache = new LRUCache<string, readonly AccessDecision[]>({
    max: MAX_DECISIONS,
    maxSize: MAX_DECISION_CHARS,
    sizeCalculation: (_decisions, key) => key.length,
  });
  const loggedAt = new Map<string, number>();

  function logFailure(policy: string, error: string): void {
    const now = Date.now();
    if (now - (loggedAt.get(policy) ?? Number.NEGATIVE_INFINITY) < LOG_INTERVAL_MS) return;
    loggedAt.set(policy, now);
    log.error('a Cedar policy failed, so it counts as a forbid', { policy, error });
  }

  function evaluated(request: AccessRequest, inCedar: CedarRequest): readonly AccessDecision[] {
    const { satisfied, failed, open } = evaluate({
      ...inCedar,
      entities: configured.around([inCedar.principal, inCedar.resource]),
    });
    // Decisions stand in the order of the text, so the first of several equally strict policies is named.
    const found = [...rules].flatMap(([key, rule]) => (satisfied.includes(key) ? decisionOf(rule, request) : []));
    for (const [key, error] of failed) {
      const { name = key, effect } = rules.get(key) ?? {};
      logFailure(name, error);
      found.push({ effect: effect === 'hide' ? 'hide' : 'deny', rule: `${name} (failed)` });
    }
    for (const rule of open.map((key) => rules.get(key))) {
      // While arguments are unknown, a `permit` counts: the tool is listed. If Cedar cannot hold the arguments, a `hide` counts.
      const counts = inCedar.arguments === 'unknown' ? rule?.json.effect === 'permit' : rule?.effect === 'hide';
      if (counts) found.push(...decisionOf(rule, request));
    }
    if (inCedar.arguments === 'inexpressible') found.push(INEXPRESSIBLE);
    if (found.length === 0) return [request.onlyResources === true ? RESOURCE_TOOLS : BY_DEFAULT];
    return found.sort((a, b) => STRICTNESS.indexOf(a.effect) - STRICTNESS.indexOf(b.effect));
  }

  /** A decision is cached unless it depends on the time, or on arguments: these are too many to cache. */
  const isCacheable = ({ arguments: given }: AccessRequest): boolean =>
    !mentions('now') && (given === undefined || !mentions('arguments'));

  const hides = all.some(({ effect }) => effect === 'hide');

  /**
   * Returns the decisions of all policies that match. Refuses a request that Cedar cannot hold, such as one for a name with half
   * a surrogate pair in it. Never throws.
   */
  function matching(request: AccessRequest): readonly AccessDecision[] {
    try {
      return cached(request);
    } catch (error) {
      logFailure('any', (error as Error).message);
      return [{ effect: hides ? 'hide' : 'deny', rule: 'request that Cedar cannot hold' }];
    }
  }

  function cached(request: AccessRequest): readonly AccessDecision[] {
    const inCedar = cedarRequest(request, mentions);
    if (!isCacheable(request)) return evaluated(request, inCedar);
    const { principal, action, resource } = inCedar;
    const key = JSON.stringify([principal, action, resource, request.onlyResources === true]);
    const before = cache.get(key);
    if (before !== undefined) return before;
    const decisions = evaluated(request, inCedar);
    cache.set(key, decisions);
    return decisions;
  }

  return {
    name: 'cedar',
    attributes: RESOURCE_ATTRIBUTES.some(mentions),
    hides,
    matching,
    decide: (request) => matching(request)[0] ?? BY_DEFAULT,
    could: couldIn(all, configured),
    async close() {
      cache.clear();
      forget();
    },
  };
}

/** Reads the files that `access.cedar` of a configuration names. */
const plugIn: PolicyPlugIn<{ readonly policies: string; readonly entities?: string | undefined }> = {
  async create({ policies, entities }, { base, log }) {
    const text = await textOf(base, policies, 'policies');
    const listed = entities === undefined ? undefined : entitiesIn(await textOf(base, entities, 'entities'), entities);
    const names = { policies, entities: entities ?? 'entities' };
    return cedarPolicy({ policies: text, entities: listed, names, log });
  },
};
export default plugIn;

/** Returns the decision of a policy that matches; none if it would ask a human about an operation that nobody is asked about. */
function decisionOf(rule: CedarRule | undefined, { operation }: AccessRequest): AccessDecision[] {
  if (rule === undefined || (rule.effect === 'ask' && !ASKABLE.includes(operation))) return [];
  const { effect, name, rememberMs } = rule;
  return [{ effect, rule: name, ...(rememberMs !== undefined && { rememberMs }) }];
}

interface ParsedFile {
  readonly rules: ReadonlyMap<string, CedarRule>;
  readonly file: string;
}

function validate(cedar: Engine, policies: PolicySet, schema: string | object, { rules, file }: ParsedFile): void {
  const answer = cedar.validate({ policies, schema: schema as Parameters<Engine['checkParseSchema']>[0] });
  if (answer.type === 'failure') throw invalid(`Cedar schema: ${answer.errors.map(wordsOf).join('; ')}`);
  const [first] = answer.validationErrors;
  if (first !== undefined)
    throw invalid(`${file}: ${rules.get(first.policyId)?.name ?? first.policyId}: ${wordsOf(first.error)}`);
}
