/** Answers all requests: finds the method, checks the parameters, and runs the method with a way back to the client. */

import { createContext, type Principal } from '../../core/context.ts';
import { sayProblems } from '../../core/text/problems.ts';
import { scrub } from '../../core/text/scrub.ts';
import { writtenMembers } from '../../core/text/written.ts';
import type { Engine } from '../../engine/index.ts';
import type { Data } from '../../protocol/data.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../protocol/error-codes.ts';
import { isInputRequired } from '../../protocol/input-required.ts';
import { DIRECTORY_READ_METHOD, METADATA_METHOD } from '../../protocol/methods.ts';
import type { CacheHint } from '../../protocol/resources.ts';
import { GET_SKILL_METHOD, LIST_SKILLS_METHOD } from '../../protocol/skills.ts';
import type { RequestMessage } from '../messages.ts';
import { answersOf, assertAskable, type Round, withParams } from './asking.ts';
import { callRequestProblem, checkedCallResult } from './calls.ts';
import type { Envelope, Failure, Outcome } from './envelope.ts';
import { startInvocation } from './invocation.ts';
import { inPieces } from './long-strings.ts';
import {
  ASKING,
  askedFor,
  type Method,
  methodsOf,
  offersTasks,
  offersTo,
  signatureOf,
  wireErrorOf,
  withMeta,
} from './methods.ts';
import { runObserved } from './observed.ts';
import { noTaskOf, taskAnswer, taskMethods } from './task-methods.ts';
import { toolsFor } from './tool-lists.ts';

export interface Dispatcher {
  /** Whether the principal may use the method. */
  offers(method: string, principal: Principal): boolean;
  /** Answers a request. Never rejects. */
  dispatch(envelope: Envelope): Promise<Outcome>;
  /** Answers a read, list or call at once where a kept answer is valid; else returns undefined, without side effects. */
  again(message: RequestMessage, from: Pick<Envelope, 'era' | 'principal' | 'peer' | 'log'>): Outcome | undefined;
}

/** The method does not exist, or not for this principal. */
export const NO_SUCH_METHOD: Failure = { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };

/** The base of the contexts of answers that are given at once. Its signal never aborts. */
const AT_ONCE = createContext();

/** Methods whose results may contain whole contents. */
const GIVING: ReadonlySet<string> = new Set([
  'tools/call',
  'tasks/get',
  'tasks/result',
  'prompts/get',
  'resources/read',
]);

/** Methods whose results have freshness hints, which revisions up to 2025-11-25 do not have. */
const HINTED: ReadonlySet<string> = new Set([
  'resources/list',
  'resources/templates/list',
  'resources/read',
  METADATA_METHOD,
  DIRECTORY_READ_METHOD,
  'tools/list',
  'prompts/list',
  LIST_SKILLS_METHOD,
  GET_SKILL_METHOD,
]);

function withoutHints(result: object): object {
  const { ttlMs: _ttl, cacheScope: _scope, ...lasting } = result as Partial<CacheHint>;
  return lasting;
}

export function createDispatcher(engine: Engine): Dispatcher {
  const methods = methodsOf(engine);
  const ofTasks = { legacy: taskMethods(engine, 'legacy'), modern: taskMethods(engine, 'modern') };
  const signature = signatureOf(engine);

  async function answer(method: Method, params: unknown, envelope: Envelope): Promise<Outcome> {
    const { era, message, principal, peer, log, signal } = envelope;
    const roots = envelope.roots === undefined ? undefined : await envelope.roots();
    const ctx = createContext({
      principal,
      ...(peer !== undefined && { peer }),
      log,
      signal,
      client: envelope.client,
      roots,
    });
    const running = startInvocation(engine, envelope, params as Data, ctx);
    try {
      let round: Round = { answers: message.params?.inputResponses, state: message.params?.requestState };
      for (let count = 1; ; count++) {
        const invocation = running.invoke(round);
        const { telemetry } = engine;
        const runs = count === 1 ? method : goingOn(method);
        const result =
          telemetry === undefined
            ? await runs.run(params, invocation)
            : await runObserved(telemetry, runs, params, invocation, envelope);
        const members = writtenMembers(result);
        if (members !== undefined) return { json: finishedJson(method, members, era) };
        if (!isInputRequired(result)) return { result: finished(method, result, era) };
        assertAskable(method.name, result, envelope);
        if (era === 'modern') return { result: { ...withMeta(withParams(result), signature) } };
        const answered = await answersOf(method.name, result, envelope, count);
        if ('failed' in answered) return { result: answered.failed };
        round = answered;
      }
    } catch (error) {
      return { error: wireErrorOf(engine, error, method.name, era, ctx), cause: error };
    } finally {
      running.end();
    }
  }

  function finished(method: Method, result: object, era: Envelope['era']): object {
    const { name } = method;
    const checked = checkedFor(name, result, era);
    const sent = GIVING.has(name) ? inPieces(checked) : checked;
    if (era === 'legacy') return HINTED.has(name) ? withoutHints(sent) : sent;
    return { resultType: 'complete', ...withMeta(sent, signature) };
  }

  function checkedFor(method: string, result: object, era: Envelope['era']): object {
    switch (method) {
      case 'tools/call':
        return taskAnswer(result, era, engine.hide) ?? checkedCallResult(result, era);
      case 'tasks/result':
        return checkedCallResult(result, era);
      case 'tools/list':
        return toolsFor(result, era);
      default:
        return result;
    }
  }

  const signed = `"_meta":${JSON.stringify(signature)}`;
  const { ttlMs, cacheScope } = engine.resources.cacheHint;
  const hints = `"ttlMs":${JSON.stringify(ttlMs)},"cacheScope":${JSON.stringify(cacheScope)}`;

  /** As `finished`, for a result without its own `_meta`, with the server's default freshness. */
  function finishedJson({ name }: Method, members: string, era: Envelope['era']): string {
    if (era === 'legacy') return `{${members}}`;
    return `{"resultType":"complete",${members},${HINTED.has(name) ? `${hints},` : ''}${signed}}`;
  }

  /** Refuses to run one of this server's own tools as a task where other tools support tasks. */
  function refusedAsTask({ message: { method, params = {} }, era, principal }: Envelope): Failure | undefined {
    const { name, task } = params;
    if (method !== 'tools/call' || era === 'modern' || task === undefined) return undefined;
    const foreign = engine.tools.ownerOf(String(name)).foreign === true;
    return foreign || !offersTasks(engine, principal, era) ? undefined : noTaskOf(String(name));
  }

  const offersIn = (method: string, principal: Principal, era: Envelope['era']): boolean =>
    methods.has(method)
      ? offersTo(engine, principal)(method)
      : ofTasks[era].has(method) && offersTasks(engine, principal, era);

  const offers: Dispatcher['offers'] = (method, principal) => offersIn(method, principal, 'modern');

  return {
    offers,
    again({ method, params = {} }, { era, principal, peer, log }) {
      const known = methods.get(method);
      // Telemetry has to record each request.
      if (known?.again === undefined || engine.telemetry !== undefined) return undefined;
      if ('inputResponses' in params || 'requestState' in params) return undefined;
      const count = engine.admission.atOnce(askedFor(method, params), principal);
      if (count === undefined) return undefined;
      const ctx = { ...AT_ONCE, principal, peer: peer ?? principal.id, log, requestId: crypto.randomUUID() };
      const members = known.again(params, ctx);
      if (members === undefined) return undefined;
      count();
      return { json: finishedJson(known, members, era) };
    },
    async dispatch(envelope) {
      const { message, principal, era } = envelope;
      const own = envelope.own?.get(message.method);
      const method = own ?? methods.get(message.method) ?? ofTasks[era].get(message.method);
      if (method === undefined || (own === undefined && !offersIn(method.name, principal, era))) return NO_SUCH_METHOD;
      const refused = refusedBefore(method, envelope) ?? refusedAsTask(envelope);
      if (refused !== undefined) return refused;
      const params = method.params.safeParse(ownParams(message.params));
      if (params.success) return answer(method, params.data, envelope);
      return refusal(`Invalid params for ${method.name}: ${sayProblems(params.error.issues)}`);
    },
  };
}

/** The method for the rounds in which the same request goes on with its client's answers. */
const goingOn = (method: Method): Method => ({
  ...method,
  run: (params, invocation) => method.run(params, invocation, true),
});

/** Returns the parameters without those of the question rounds. */
function ownParams(params: Data = {}): Data {
  if (!('inputResponses' in params || 'requestState' in params)) return params;
  const { inputResponses: _answers, requestState: _state, ...own } = params;
  return own;
}

const refusal = (message: string, data?: Failure['error']['data']): Failure => ({
  error: { code: INVALID_PARAMS, message, ...(data !== undefined && { data }) },
});

/** Refuses a malformed tool call, and a `requestState` that is not a string, before the method checks its parameters. */
function refusedBefore({ name }: Method, { message, era }: Envelope): Failure | undefined {
  const problem = name === 'tools/call' ? callRequestProblem(message, era) : undefined;
  if (problem !== undefined) return refusal(scrub(`Invalid tools/call request: ${problem}`));
  const state = message.params?.requestState;
  if (state === undefined || typeof state === 'string' || !ASKING.has(name)) return undefined;
  return refusal('Invalid or expired requestState', { reason: 'invalid_request_state' });
}
