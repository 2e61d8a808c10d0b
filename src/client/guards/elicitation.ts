/** Guards the questions of a server to the user: refuses forms that ask for secrets and unsafe addresses, warns of odd ones. */
import type {
  ClientContext,
  ElicitRequest,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitResult,
} from '@modelcontextprotocol/client';
import { forTerminal } from '../safety/terminal.ts';
import { type AddressWarning, addressProblem, addressWarnings } from './address.ts';
import { type BudgetOptions, createBudget } from './budget.ts';
import { decisionsOf, type GuardOptions, GuardRefusal, runHook } from './decisions.ts';
import { answerProblem, cleanForm, type FormField } from './form.ts';

/** A question, ready to be shown to the user. */
export type ElicitationReview =
  | {
      readonly mode: 'form';
      readonly server: string | undefined;
      /** The message without terminal escapes and hidden characters. */
      readonly message: string;
      readonly fields: readonly FormField[];
      readonly signal: AbortSignal;
    }
  | {
      readonly mode: 'url';
      readonly server: string | undefined;
      readonly message: string;
      /** The whole address. Show it with its `host` marked, and open it in a browser only after consent. */
      readonly url: string;
      readonly host: string;
      readonly warnings: readonly AddressWarning[];
      readonly signal: AbortSignal;
    };

/** Asks the user. For an address, `accept` means that the user agreed and it was opened. */
export type ElicitationHandler = (
  review: ElicitationReview,
  ctx: ClientContext,
) => ElicitResult | Promise<ElicitResult>;

/** The rules for questions of one server. */
export interface ElicitationOptions extends GuardOptions {
  /** Whether addresses may be shown at all; true by default. */
  readonly urls?: boolean;
  /** Domains, with their subdomains, that get no `unknown-host` warning. They may be in a private network. */
  readonly trustedDomains?: readonly string[];
  /** Whether addresses on this machine may be shown, also without HTTPS, for development; false by default. */
  readonly allowLoopback?: boolean;
  /** Whether a form may ask for a password, a key or a card, in any of its texts; false by default. */
  readonly allowSensitiveFields?: boolean;
  /** The most fields of a form; 20 by default. */
  readonly maxFields?: number;
  /** The most questions in a window and at a time. */
  readonly budget?: Pick<BudgetOptions, 'requests' | 'windowMs' | 'concurrent'>;
}

const MAX_MESSAGE = 4_096;

/**
 * Wraps the host's function that asks its user, for `client.setRequestHandler('elicitation/create', ...)`. Without a function
 * every question is declined. A question that is not allowed is declined before the user sees it. If an answer does not fit the
 * form, the answer is not sent, and the question is cancelled.
 */
export function guardElicitation(handler: ElicitationHandler | undefined, options: ElicitationOptions = {}) {
  const { server, urls = true, maxFields = 20, allowSensitiveFields = false } = options;
  const decisions = decisionsOf('elicitation', options);
  const budget = createBudget(options.budget);

  return async (request: ElicitRequest, ctx: ClientContext): Promise<ElicitResult> => {
    const reservation = budget.begin();
    if (typeof reservation === 'string') return declined(reservation);
    try {
      const { params } = request;
      if (typeof params?.message !== 'string' || params.message.length > MAX_MESSAGE) return declined('message');
      const message = forTerminal(params.message, { lines: true });
      if (handler === undefined) return declined('no-consent');
      return params.mode === 'url'
        ? await openAddress(params as ElicitRequestURLParams, message, handler, ctx)
        : await fillForm(params as ElicitRequestFormParams, message, handler, ctx);
    } catch (error) {
      // The user decided nothing if a hook failed, so the question is cancelled and not declined.
      if (error instanceof GuardRefusal && error.reason !== 'not-recorded') return { action: 'cancel' };
      throw error;
    } finally {
      reservation.end();
    }
  };

  function declined(reason: string, subject?: string): ElicitResult {
    decisions.refused(reason, subject === undefined ? {} : { subject });
    return { action: 'decline' };
  }

  async function fillForm(
    params: ElicitRequestFormParams,
    message: string,
    ask: ElicitationHandler,
    ctx: ClientContext,
  ): Promise<ElicitResult> {
    const form = cleanForm(params.requestedSchema, { message, maxFields, allowSensitiveFields });
    if ('problem' in form) return declined(form.problem, form.field);
    const { signal } = ctx.mcpReq;
    const answer = await runHook(
      decisions,
      () => ask({ mode: 'form', server, message, fields: form.fields, signal }, ctx),
      signal,
    );
    if (answer?.action !== 'accept') return refusedByUser(answer);
    const problem = answerProblem(form.fields, answer.content ?? {});
    if (problem !== undefined) {
      decisions.refused('answer-does-not-fit', { subject: problem });
      return { action: 'cancel' };
    }
    // Only values of the form's fields are sent.
    const values = form.fields.flatMap(({ name }) => {
      const { content = {} } = answer;
      const value = Object.hasOwn(content, name) ? content[name] : undefined;
      return value === undefined ? [] : [[name, value] as const];
    });
    decisions.allowed('answered');
    return { action: 'accept', content: Object.fromEntries(values) };
  }

  async function openAddress(
    params: ElicitRequestURLParams,
    message: string,
    ask: ElicitationHandler,
    ctx: ClientContext,
  ): Promise<ElicitResult> {
    if (!urls) return declined('urls');
    const { allowLoopback = false, trustedDomains = [] } = options;
    const problem = addressProblem(params.url, { allowLoopback, trustedDomains });
    if (problem !== undefined) return declined(problem);
    const url = new URL(params.url);
    const warnings = addressWarnings(params.url, trustedDomains);
    const { signal } = ctx.mcpReq;
    const answer = await runHook(
      decisions,
      () => ask({ mode: 'url', server, message, url: url.href, host: url.host, warnings, signal }, ctx),
      signal,
    );
    if (answer?.action !== 'accept') return refusedByUser(answer);
    decisions.allowed('opened', { subject: url.origin });
    return { action: 'accept' };
  }

  function refusedByUser(answer: ElicitResult | undefined): ElicitResult {
    decisions.refused('declined');
    return { action: answer?.action === 'cancel' ? 'cancel' : 'decline' };
  }
}
