/**
 * Sampling under the eyes of the user (SEC-SAMP-1): what a server wants a model to be asked is checked, shown, changed or
 * refused before it is sent, and the answer before it is returned.
 */
import type {
  ClientContext,
  CreateMessageRequest,
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
} from '@modelcontextprotocol/client';
import { type BudgetOptions, createBudget, type Use } from './budget.ts';
import { asked, decisionsOf, type GuardOptions } from './decisions.ts';
import {
  checkedRequest,
  checkedResult,
  checkRequestMedia,
  type SamplingContentLimits,
  transcriptOf,
} from './sampling-content.ts';

export type SamplingParams = CreateMessageRequestParams;
export type SamplingResult = CreateMessageResult | CreateMessageResultWithTools;

/** The host's way to its model; also what the guard gives back, for `client.setRequestHandler`. */
export type SamplingHandler = (
  request: CreateMessageRequest,
  ctx: ClientContext,
) => SamplingResult | Promise<SamplingResult>;

/** The request that a user decides about. */
export interface SamplingReview {
  readonly server: string | undefined;
  /** The request as it would be sent, without what the guard took out. */
  readonly params: SamplingParams;
  /** The same as lines to show, without escapes and hidden characters; the system prompt included. */
  readonly transcript: string;
  /** Tokens of the prompt, by a rough count of characters, and the most that the answer may have. */
  readonly estimatedTokens: number;
  readonly signal: AbortSignal;
}

export interface SamplingOptions extends GuardOptions {
  /**
   * Consent, asked for each request before anything is sent. True sends what was shown; other params are sent instead.
   * Without it everything is refused.
   */
  readonly approve?: (
    review: SamplingReview,
  ) => boolean | { params: SamplingParams } | Promise<boolean | { params: SamplingParams }>;
  /** Consent to the answer, before the server gets it. True returns it, another result is returned instead. Not asked by default. */
  readonly approveResult?: (
    result: SamplingResult,
    review: SamplingReview,
  ) => boolean | { result: SamplingResult } | Promise<boolean | { result: SamplingResult }>;
  readonly budget?: BudgetOptions;
  /** Tokens of one answer; what the server wants beyond is cut down to it. 4,096 by default. */
  readonly maxTokens?: number;
  /** Returns the tokens and cost of a request, by the model's own count; by default a rough count of characters, at no cost. */
  readonly usage?: (params: SamplingParams, result: SamplingResult | undefined) => Use;
  readonly content?: SamplingContentLimits;
  /** A further look at either way; a word for why not refuses. */
  readonly inspect?: (
    direction: 'request' | 'result',
    content: SamplingParams | SamplingResult,
  ) => string | undefined | Promise<string | undefined>;
}

/**
 * Wraps the host's handler of `sampling/createMessage`. One guard is for one server: its budget is that server's.
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
    asked(decisions, () => usage(params, result));

  return async (request: CreateMessageRequest, ctx: ClientContext): Promise<SamplingResult> => {
    const { signal } = ctx.mcpReq;
    const begun = budget.begin();
    if (typeof begun === 'string') return decisions.refuse(begun);
    try {
      const wanted = checkedRequest(request.params, options.content, decisions);
      await checkRequestMedia(wanted, options.content, decisions);
      const room = begun.tokensLeft - (await used(wanted, undefined)).tokens;
      const capped = { ...wanted, maxTokens: Math.min(wanted.maxTokens, maxTokens, Math.floor(room)) };
      if (capped.maxTokens < 1) return decisions.refuse('tokens-used-up');
      if (capped.maxTokens < wanted.maxTokens)
        decisions.changed('max-tokens', { details: { maxTokens: capped.maxTokens } });
      if (approve === undefined) return decisions.refuse('no-consent');
      const review = reviewOf(server, capped, signal);
      const answer = await asked(decisions, () => approve(review), signal);
      if (answer === false || answer === undefined || answer === null) return decisions.refuse('declined');
      // The user's text is checked as well: it may be the server's with a word changed.
      const edited = answer === true ? capped : checkedRequest(answer.params, options.content, decisions);
      const params = { ...edited, maxTokens: Math.min(edited.maxTokens, maxTokens) };
      if (answer !== true) {
        await checkRequestMedia(params, options.content, decisions);
        decisions.changed('edited');
      }
      const reason = await asked(decisions, () => inspect?.('request', params), signal);
      if (reason !== undefined) return decisions.refuse('inspected', { details: { word: reason } });
      if (!begun.reserve(atMost(params, await used(params, undefined)))) return decisions.refuse('over-budget');
      decisions.allowed('sent', { details: { maxTokens: params.maxTokens } });
      const result = await asked(decisions, () => handler({ ...request, params }, ctx), signal);
      begun.settle(await used(params, result));
      return await returned(result, reviewOf(server, params, signal));
    } finally {
      begun.end();
    }
  };

  async function returned(written: SamplingResult, review: SamplingReview): Promise<SamplingResult> {
    const result = await checkedResult(written, options.content, decisions);
    const reason = await asked(decisions, () => inspect?.('result', result), review.signal);
    if (reason !== undefined) return decisions.refuse('inspected', { details: { word: reason } });
    if (approveResult === undefined) {
      decisions.allowed('returned');
      return result;
    }
    const answer = await asked(decisions, () => approveResult(result, review), review.signal);
    if (answer === false || answer === undefined || answer === null) return decisions.refuse('result-declined');
    decisions.allowed('returned');
    return answer === true ? result : await checkedResult(answer.result, options.content, decisions);
  }
}

function reviewOf(server: string | undefined, params: SamplingParams, signal: AbortSignal): SamplingReview {
  const transcript = transcriptOf(params);
  return { server, params, transcript, estimatedTokens: tokensIn(transcript) + params.maxTokens, signal };
}

/** A token has four characters, more or less. */
const tokensIn = (text: string): number => Math.ceil(text.length / 4);

const roughUse = (params: SamplingParams, result: SamplingResult | undefined): Use => ({
  tokens: tokensIn(
    JSON.stringify(params.messages) + (params.systemPrompt ?? '') + JSON.stringify(result?.content ?? ''),
  ),
  cost: 0,
});

/** Before the answer is there, it counts as long as it may be. */
const atMost = (params: SamplingParams, prompt: Use): Use => ({ ...prompt, tokens: prompt.tokens + params.maxTokens });
