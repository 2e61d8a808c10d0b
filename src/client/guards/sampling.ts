/**
 * Guards sampling (SEC-SAMP-1). The user sees a server's request to a model before it is sent, and may change or refuse it; the
 * guard checks the request and the answer.
 */
import type {
  ClientContext,
  CreateMessageRequest,
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
} from '@modelcontextprotocol/client';
import { type BudgetOptions, createBudget, type Use } from './budget.ts';
import { decisionsOf, type GuardOptions, runHook } from './decisions.ts';
import {
  checkedRequest,
  checkedResult,
  checkRequestMedia,
  type SamplingContentLimits,
  transcriptOf,
} from './sampling-content.ts';

/** The parameters of `sampling/createMessage`. */
export type SamplingParams = CreateMessageRequestParams;
/** The result of `sampling/createMessage`. */
export type SamplingResult = CreateMessageResult | CreateMessageResultWithTools;

/** Sends a request to the host's model. The guard has the same type, for `client.setRequestHandler`. */
export type SamplingHandler = (
  request: CreateMessageRequest,
  ctx: ClientContext,
) => SamplingResult | Promise<SamplingResult>;

/** The request that a user decides about. */
export interface SamplingReview {
  readonly server: string | undefined;
  /** The request in the form in which it would be sent, after the changes of the guard. */
  readonly params: SamplingParams;
  /** The system prompt and messages as lines to show, without escapes and hidden characters. */
  readonly transcript: string;
  /** The tokens of the prompt, estimated from its characters, plus the most tokens of the answer. */
  readonly estimatedTokens: number;
  readonly signal: AbortSignal;
}

/** Consent, limits and checks for the sampling of one server. */
export interface SamplingOptions extends GuardOptions {
  /**
   * Asks the user for consent to each request before it is sent. True sends the request that was shown; `params` are sent
   * instead of it; false refuses. Without this function everything is refused.
   */
  readonly approve?: (
    review: SamplingReview,
  ) => boolean | { params: SamplingParams } | Promise<boolean | { params: SamplingParams }>;
  /**
   * Asks the user for consent to the answer before the server gets it. True returns the answer; `result` is returned instead of
   * it; false refuses. By default the user is not asked.
   */
  readonly approveResult?: (
    result: SamplingResult,
    review: SamplingReview,
  ) => boolean | { result: SamplingResult } | Promise<boolean | { result: SamplingResult }>;
  readonly budget?: BudgetOptions;
  /** The most tokens of one answer; a request for more is cut down to this. 4,096 by default. */
  readonly maxTokens?: number;
  /** Returns the tokens and cost of a request as the model counts them. By default tokens are estimated, and cost nothing. */
  readonly usage?: (params: SamplingParams, result: SamplingResult | undefined) => Use;
  readonly content?: SamplingContentLimits;
  /** Checks each request and answer once more, also the `result` of `approveResult`. Returns a reason to refuse it, else undefined. */
  readonly inspect?: (
    direction: 'request' | 'result',
    content: SamplingParams | SamplingResult,
  ) => string | undefined | Promise<string | undefined>;
}

/**
 * Wraps the host's handler of `sampling/createMessage`. Make one guard for each server, because a guard has one budget.
 *
 * @example
 * client.setRequestHandler('sampling/createMessage', guardSampling(askModel, { server: 'notes', approve: askUser }));
 *
 * @throws GuardRefusal from the handler, with the reason
 */
export function guardSampling(handler: SamplingHandler, options: SamplingOptions = {}) {
  const { server, approve, approveResult, inspect, maxTokens = 4_096, usage = roughUse } = options;
  const decisions = decisionsOf('sampling', options);
  const budget = createBudget(options.budget);

  const used = (params: SamplingParams, result: SamplingResult | undefined): Promise<Use> =>
    runHook(decisions, () => usage(params, result));

  return async (request: CreateMessageRequest, ctx: ClientContext): Promise<SamplingResult> => {
    const { signal } = ctx.mcpReq;
    const reservation = budget.begin();
    if (typeof reservation === 'string') return decisions.refuse(reservation);
    try {
      const wanted = checkedRequest(request.params, options.content, decisions);
      await checkRequestMedia(wanted, options.content, decisions);
      const room = reservation.tokensLeft - (await used(wanted, undefined)).tokens;
      const capped = { ...wanted, maxTokens: Math.min(wanted.maxTokens, maxTokens, Math.floor(room)) };
      if (capped.maxTokens < 1) return decisions.refuse('tokens-used-up');
      if (capped.maxTokens < wanted.maxTokens)
        decisions.changed('max-tokens', { details: { maxTokens: capped.maxTokens } });
      if (approve === undefined) return decisions.refuse('no-consent');
      const review = reviewOf(server, capped, signal);
      const answer = await runHook(decisions, () => approve(review), signal);
      if (answer === false || answer === undefined || answer === null) return decisions.refuse('declined');
      // An edited request is checked again, because most of it may still be the server's.
      const edited = answer === true ? capped : checkedRequest(answer.params, options.content, decisions);
      const params = { ...edited, maxTokens: Math.min(edited.maxTokens, maxTokens) };
      if (answer !== true) {
        await checkRequestMedia(params, options.content, decisions);
        decisions.changed('edited');
      }
      const reason = await runHook(decisions, () => inspect?.('request', params), signal);
      if (reason !== undefined) return decisions.refuse('inspected', { details: { word: reason } });
      if (!reservation.reserve(atMost(params, await used(params, undefined)))) return decisions.refuse('over-budget');
      decisions.allowed('sent', { details: { maxTokens: params.maxTokens } });
      const result = await runHook(decisions, () => handler({ ...request, params }, ctx), signal);
      reservation.settle(await used(params, result));
      return await returned(result, reviewOf(server, params, signal));
    } finally {
      reservation.end();
    }
  };

  async function inspectResult(result: SamplingResult, { signal }: SamplingReview): Promise<void> {
    const reason = await runHook(decisions, () => inspect?.('result', result), signal);
    if (reason !== undefined) decisions.refuse('inspected', { details: { word: reason } });
  }

  async function returned(answered: SamplingResult, review: SamplingReview): Promise<SamplingResult> {
    const result = await checkedResult(answered, options.content, decisions);
    await inspectResult(result, review);
    if (approveResult === undefined) {
      decisions.allowed('returned');
      return result;
    }
    const answer = await runHook(decisions, () => approveResult(result, review), review.signal);
    if (answer === false || answer === undefined || answer === null) return decisions.refuse('result-declined');
    if (answer === true) {
      decisions.allowed('returned');
      return result;
    }
    // An edited answer is inspected again, because most of it may still be the model's.
    const edited = await checkedResult(answer.result, options.content, decisions);
    await inspectResult(edited, review);
    decisions.allowed('returned');
    return edited;
  }
}

function reviewOf(server: string | undefined, params: SamplingParams, signal: AbortSignal): SamplingReview {
  const transcript = transcriptOf(params);
  return { server, params, transcript, estimatedTokens: tokensIn(transcript) + params.maxTokens, signal };
}

/** Estimates the tokens of a text: one for every four characters. */
const tokensIn = (text: string): number => Math.ceil(text.length / 4);

const roughUse = (params: SamplingParams, result: SamplingResult | undefined): Use => ({
  tokens: tokensIn(
    JSON.stringify(params.messages) + (params.systemPrompt ?? '') + JSON.stringify(result?.content ?? ''),
  ),
  cost: 0,
});

/** Returns the most that a request can use: its answer counts as `maxTokens`. */
const atMost = (params: SamplingParams, prompt: Use): Use => ({ ...prompt, tokens: prompt.tokens + params.maxTokens });
