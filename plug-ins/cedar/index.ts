/** Policies in Cedar, as another engine for the access layer: who may do what is decided by them instead of by rules. */
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

export interface CedarOptions {
  /** Policies as text, in Cedar 4. */
  readonly policies: string;
  /** Beside those of a request, in Cedar's JSON: what groups are in, what is further known of somebody. Default: none. */
  readonly entities?: readonly object[] | undefined;
  /** Against which the policies are checked at the beginning, as text or in Cedar's JSON. Default: they are not. */
  readonly schema?: string | object | undefined;
  /** How policies and entities are called in mistakes, such as their files. Default: `policies` and `entities`. */
  readonly names?: { readonly policies: string; readonly entities: string } | undefined;
  /** Has the cause where a policy fails. Default: nowhere. */
  readonly log?: Log | undefined;
}

/** Which policies match a request, for `vitrine explain`. */
export interface CedarPolicy extends AccessPolicy {
  decide(request: AccessRequest): AccessDecision;
  /** The decisions of the policies that decided, the one that counts first. */
  matching(request: AccessRequest): readonly AccessDecision[];
  close(): Promise<void>;
}

/** The most decisions that are kept where neither arguments nor the time matter; the one not needed for longest goes first. */
const MAX_DECISIONS = 10_000;

/** The most characters of the questions of all of them. */
const MAX_DECISION_CHARS = 8 * 1024 * 1024;

/** Before the same failure of the same policy is told again, in milliseconds. */
const TOLD_AGAIN_MS = 60_000;

const OTHERWISE: AccessDecision = { effect: 'deny', rule: 'default', byDefault: true };
const RESOURCE_TOOLS: AccessDecision = { effect: 'allow', rule: 'default of resource tools' };
const INEXPRESSIBLE: AccessDecision = { effect: 'deny', rule: 'arguments that Cedar cannot hold' };

/**
 * Makes an access policy of Cedar policies. It denies whatever none of them permits. Of those that match, the strictest
 * decides: `forbid` with `@effect("hide")`, `forbid`, `permit` with `@effect("ask")`, `permit`. One that fails counts as a
 * `forbid`.
 * @throws ResourceError `invalid` where Cedar is not installed, and for policies, entities and annotations that make no
 *   sense, with their place
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
  const around = configuredEntities(cedar, entities, uidsIn(JSON.parse(text)), names.entities);
  const set: PolicySet = { staticPolicies: Object.fromEntries([...rules].map(([key, { json }]) => [key, json])) };
  if (schema !== undefined) validate(cedar, set, schema, { rules, file: names.policies });
  const { evaluate, forget } = evaluator(cedar, set, names.policies);
  const known = new LRUCache<string, readonly AccessDecision[]>({
    max: MAX_DECISIONS,
    maxSize: MAX_DECISION_CHARS,
    sizeCalculation: (_decisions, key) => key.length,
  });
  const told = new Map<string, number>();

  function tell(policy: string, error: string): void {
    const now = Date.now();
    if (now - (told.get(policy) ?? Number.NEGATIVE_INFINITY) < TOLD_AGAIN_MS) return;
    told.set(policy, now);
    log.error('a Cedar policy failed, so it counts against', { policy, error });
  }

  function evaluated(request: AccessRequest, asked: CedarRequest): readonly AccessDecision[] {
    const { satisfied, failed, open } = evaluate({
      ...asked,
      entities: around.around([asked.principal, asked.resource]),
    });
    // Of those that are as strict as each other, the first in the text is named.
    const found = [...rules].flatMap(([key, rule]) => (satisfied.includes(key) ? decisionOf(rule, request) : []));
    for (const [key, error] of failed) {
      const { name = key, effect } = rules.get(key) ?? {};
      tell(name, error);
      found.push({ effect: effect === 'hide' ? 'hide' : 'deny', rule: `${name} (failed)` });
    }
    for (const rule of open.map((key) => rules.get(key))) {
      // A `permit` counts while arguments are unknown: the tool is listed. A `hide` counts where Cedar cannot hold them.
      const counts = asked.arguments === 'unknown' ? rule?.json.effect === 'permit' : rule?.effect === 'hide';
      if (counts) found.push(...decisionOf(rule, request));
    }
    if (asked.arguments === 'inexpressible') found.push(INEXPRESSIBLE);
    if (found.length === 0) return [request.onlyResources === true ? RESOURCE_TOOLS : OTHERWISE];
    return found.sort((a, b) => STRICTNESS.indexOf(a.effect) - STRICTNESS.indexOf(b.effect));
  }

  /** The same question has the same answer, but for the time and for arguments, of which there is no end. */
  const keeps = ({ arguments: given }: AccessRequest): boolean =>
    !mentions('now') && (given === undefined || !mentions('arguments'));

  const hides = all.some(({ effect }) => effect === 'hide');

  /** One that Cedar cannot hold, as a name with half a character in it, is nobody's, and keeps nothing else from anybody. */
  function matching(request: AccessRequest): readonly AccessDecision[] {
    try {
      return asDecided(request);
    } catch (error) {
      tell('any', (error as Error).message);
      return [{ effect: hides ? 'hide' : 'deny', rule: 'request that Cedar cannot hold' }];
    }
  }

  function asDecided(request: AccessRequest): readonly AccessDecision[] {
    const asked = cedarRequest(request, mentions);
    if (!keeps(request)) return evaluated(request, asked);
    const { principal, action, resource } = asked;
    const key = JSON.stringify([principal, action, resource, request.onlyResources === true]);
    const before = known.get(key);
    if (before !== undefined) return before;
    const decided = evaluated(request, asked);
    known.set(key, decided);
    return decided;
  }

  return {
    name: 'cedar',
    attributes: RESOURCE_ATTRIBUTES.some(mentions),
    hides,
    matching,
    decide: (request) => matching(request)[0] ?? OTHERWISE,
    could: couldIn(all, around),
    async close() {
      known.clear();
      forget();
    },
  };
}

/** Reads the files that `access.cedar` of a configuration names. */
const plugIn: PolicyPlugIn<{ readonly policies: string; readonly entities?: string | undefined }> = {
  async create({ policies, entities }, { base, log }) {
    const text = await textOf(base, policies, 'policies');
    const known = entities === undefined ? undefined : entitiesIn(await textOf(base, entities, 'entities'), entities);
    const names = { policies, entities: entities ?? 'entities' };
    return cedarPolicy({ policies: text, entities: known, names, log });
  },
};
export default plugIn;

/** A human cannot be asked about everything: of the rest, what would be asked is not permitted. */
function decisionOf(rule: CedarRule | undefined, { operation }: AccessRequest): AccessDecision[] {
  if (rule === undefined || (rule.effect === 'ask' && !ASKABLE.includes(operation))) return [];
  const { effect, name, rememberMs } = rule;
  return [{ effect, rule: name, ...(rememberMs !== undefined && { rememberMs }) }];
}

interface Checked {
  readonly rules: ReadonlyMap<string, CedarRule>;
  readonly file: string;
}

function validate(cedar: Engine, policies: PolicySet, schema: string | object, { rules, file }: Checked): void {
  const answer = cedar.validate({ policies, schema: schema as Parameters<Engine['checkParseSchema']>[0] });
  if (answer.type === 'failure') throw invalid(`Cedar schema: ${answer.errors.map(wordsOf).join('; ')}`);
  const [first] = answer.validationErrors;
  if (first !== undefined)
    throw invalid(`${file}: ${rules.get(first.policyId)?.name ?? first.policyId}: ${wordsOf(first.error)}`);
}
