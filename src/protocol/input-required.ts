/**
 * Lets a handler ask the client for something in the middle of a request: an answer of its user, a completion by its model,
 * or its roots. In the 2026 era the handler's answer goes out as an `InputRequiredResult`, and the client calls again with
 * the answers. For a client of the 2025 era, the server turns the same answer into requests to it. So a handler is written once.
 */

/** One question to the client, in the shape of the request with the same method. */
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

/** Asks all of these questions in one round; the answers arrive under the same keys. */
export function inputRequired(
  inputRequests: Readonly<Record<string, InputRequest>>,
  requestState?: string,
): InputRequired {
  return { resultType: 'input_required', inputRequests, ...(requestState !== undefined && { requestState }) };
}

export function isInputRequired(result: object): result is InputRequired {
  return 'resultType' in result && result.resultType === 'input_required';
}

/** Asks the user by a form: `requestedSchema` is a flat JSON Schema of primitive properties. */
export function elicitation(message: string, requestedSchema: Readonly<Record<string, unknown>>): InputRequest {
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}

/** The answer of a user. `content` is there if the user accepted. The client may send anything there: validate it. */
export interface ElicitationAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

/** Asks for a completion by the client's model. */
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

/** Asks for the roots that the client shows to the server. */
export function roots(): InputRequest {
  return { method: 'roots/list', params: {} };
}

/** The answer of the client's model. */
export interface SamplingAnswer {
  readonly role: string;
  readonly content: { readonly type: string; readonly text?: string };
  readonly model?: string;
}
