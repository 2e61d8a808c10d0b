/** Evaluates requests with Cedar. The policies are prepared once. A request whose arguments Cedar does not get takes longer. */
import { randomUUID } from 'node:crypto';
import { invalid } from 'vitrine/plug-in';
import { type Engine, wordsOf } from './engine.ts';
import type { Entity } from './entities.ts';
import type { CedarRequest } from './request.ts';

export type PolicySet = Parameters<Engine['preparsePolicySet']>[1];

type Call = Parameters<Engine['statefulIsAuthorized']>[0];

/** The result of evaluating a request: policies by their keys. */
export interface Evaluated {
  /** The policies that match. If one forbids, Cedar may name only those that forbid. */
  readonly satisfied: readonly string[];
  /** The policies that could not be evaluated, and why. */
  readonly failed: readonly (readonly [key: string, error: string])[];
  /** The policies that depend on arguments which Cedar does not get: they are unknown, or Cedar cannot hold them. */
  readonly open: readonly string[];
}

export interface Evaluator {
  /** @throws Error if Cedar cannot evaluate the request */
  evaluate(request: CedarRequest & { readonly entities: readonly Entity[] }): Evaluated;
  /** Drops the policies. After that, nothing is permitted. */
  forget(): void;
}

/** @throws ResourceError `invalid` for policies that Cedar refuses */
export function evaluator(cedar: Engine, set: PolicySet, file: string): Evaluator {
  const id = `vitrine ${randomUUID()}`;
  const prepared = cedar.preparsePolicySet(id, set);
  if (prepared.type === 'failure') throw invalid(`${file}: ${prepared.errors.map(wordsOf).join('; ')}`);
  return {
    evaluate({ principal, action, resource, context, entities, arguments: args }) {
      const call = {
        principal: principal.uid,
        action,
        resource: resource.uid,
        context: context as Call['context'],
        entities: entities as Call['entities'],
      };
      if (args !== 'known') return partly(cedar, call, set);
      const answer = cedar.statefulIsAuthorized({ ...call, preparsedPolicySetId: id });
      if (answer.type === 'failure') throw new Error(`Cedar: ${answer.errors.map(wordsOf).join('; ')}`);
      const { reason, errors } = answer.response.diagnostics;
      return { satisfied: reason, failed: errors.map(({ policyId, error }) => [policyId, wordsOf(error)]), open: [] };
    },
    forget() {
      // Cedar cannot delete a prepared set, so an empty one takes its place.
      cedar.preparsePolicySet(id, { staticPolicies: {} });
    },
  };
}

function partly(cedar: Engine, call: Omit<Call, 'preparsedPolicySetId'>, policies: PolicySet): Evaluated {
  const answer = cedar.isAuthorizedPartial({ ...call, policies });
  if (answer.type === 'failure') throw new Error(`Cedar: ${answer.errors.map(wordsOf).join('; ')}`);
  const { satisfied, errored, nontrivialResiduals } = answer.response;
  return {
    satisfied,
    failed: errored.map((key) => [key, 'before its arguments were known']),
    open: nontrivialResiduals,
  };
}
