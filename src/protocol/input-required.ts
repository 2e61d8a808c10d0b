/**
 * Asking the client for something in the middle of a request: a question to its user, a completion by its model, its
 * roots. On 2026-07-28 that is an `InputRequiredResult`, after which the client calls again with the answers; for a
 * 2025-era client the same result is turned into requests to it. So a handler is written once.
 */

/** One thing that is asked, in the shape of the request of the same name. */
export type InputRequest =
  | { readonly method: 'elicitation/create'; readonly params: Readonly<Record<string, unknown>> }
  | { readonly method: 'sampling/createMessage'; readonly params: Readonly<Record<string, unknown>> }
  | { readonly method: 'roots/list'; readonly params?: Readonly<Record<string, unknown>> };

/** The value that a tool, a prompt or a read returns instead of its result while answers are missing. */
export interface InputRequired {
  readonly resultType: 'input_required';
  readonly inputRequests?: Readonly<Record<string, InputRequest>>;
  /** Opaque to the client, which sends it back. Make it with `Invocation.seal`. */
  readonly requestState?: string;
}

/** Asks for all of these in one round; the answers arrive under the same keys. */
export function inputRequired(
  inputRequests: Readonly<Record<string, InputRequest>>,
  requestState?: string,
): InputRequired {
  return { resultType: 'input_required', inputRequests, ...(requestState !== undefined && { requestState }) };
}

export function isInputRequired(result: object): result is InputRequired {
  return 'resultType' in result && result.resultType === 'input_required';
}

/** A form for the user: a flat JSON Schema of primitive properties. */
export function elicitation(message: string, requestedSchema: Readonly<Record<string, unknown>>): InputRequest {
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}

/** The answer of a user. `content` is there when the user accepted, and is the client's word: validate it. */
export interface ElicitationAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

/** A completion by the client's model. */
export function sampling(params: {
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly content: { readonly type: 'text'; readonly text: string };
  }[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
}): InputRequest {
  return { method: 'sampling/createMessage', params: { ...params } };
}

/** The roots that the client lets the server know. */
export function roots(): InputRequest {
  return { method: 'roots/list', params: {} };
}

/** The answer of the client's model. */
export interface SamplingAnswer {
  readonly role: string;
  readonly content: { readonly type: string; readonly text?: string };
  readonly model?: string;
}
