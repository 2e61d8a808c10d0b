/** Asks Cedar. It has the policies prepared; where arguments are not known it takes them again, and more time. */
import { randomUUID } from 'node:crypto';
import { invalid } from 'vitrine/plug-in';
import { type Engine, wordsOf } from './engine.ts';
import type { Entity } from './entities.ts';
import type { CedarRequest } from './request.ts';

export type PolicySet = Parameters<Engine['preparsePolicySet']>[1];

type Call = Parameters<Engine['statefulIsAuthorized']>[0];

/** The result of evaluating a request: policies by their keys. */
export interface Evaluated {
  /** Those that match; where one forbids, perhaps only those that do. */
  readonly satisfied: readonly string[];
  /** Those that could not be evaluated, and why. */
  readonly failed: readonly (readonly [key: string, error: string])[];
  /** Those that depend on arguments which are not known. */
  readonly open: readonly string[];
}

export interface Evaluator {
  /** @throws Error where the request cannot be put to Cedar */
  evaluate(request: CedarRequest & { readonly entities: readonly Entity[] }): Evaluated;
  /** Lets go of the policies: nothing is permitted any more. */
  forget(): void;
}

/** @throws ResourceError `invalid` for policies that Cedar does not take */
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
      // It keeps what it has prepared, and has no word for giving it up.
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
