/** Questions of a server to the user: forms that ask for nothing secret, addresses that are what they look like. */
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
import { asked, decisionsOf, type GuardOptions, GuardRefusal } from './decisions.ts';
import { answerProblem, cleanForm, type FormField } from './form.ts';

/** The question as the user is to see it. */
export type ElicitationReview =
  | {
      readonly mode: 'form';
      readonly server: string | undefined;
      /** Without escapes and hidden characters. */
      readonly message: string;
      readonly fields: readonly FormField[];
      readonly signal: AbortSignal;
    }
  | {
      readonly mode: 'url';
      readonly server: string | undefined;
      readonly message: string;
      /** The whole address: show it, with its host marked, and open it outside of the host only after consent. */
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

export interface ElicitationOptions extends GuardOptions {
  /** Whether addresses may be shown at all; true by default. */
  readonly urls?: boolean;
  /**
   * Host names, each with all below it, whose addresses carry no `unknown-host` warning, and which may be names or addresses
   * of a private network.
   */
  readonly trustedDomains?: readonly string[];
  /** Addresses that are not HTTPS, on this machine: for development; false by default. */
  readonly allowLoopback?: boolean;
  /** Whether a form may ask for a password, a key or a card, in any of its texts; false by default. */
  readonly allowSensitiveFields?: boolean;
  /** Fields of a form; 20 by default. */
  readonly maxFields?: number;
  /** Questions in a window; as for sampling, without tokens. */
  readonly budget?: Pick<BudgetOptions, 'requests' | 'windowMs' | 'concurrent'>;
}

const MAX_MESSAGE = 4_096;

/**
 * Wraps the host's way to ask its user, for `client.setRequestHandler('elicitation/create', ...)`. Without a handler every
 * question is declined. What may not be asked is declined without asking; an answer that does not fit the form is not
 * sent, and the question is cancelled.
 */
export function guardElicitation(handler: ElicitationHandler | undefined, options: ElicitationOptions = {}) {
  const { server, urls = true, maxFields = 20, allowSensitiveFields = false } = options;
  const decisions = decisionsOf('elicitation', options);
  const budget = createBudget(options.budget);

  return async (request: ElicitRequest, ctx: ClientContext): Promise<ElicitResult> => {
    const begun = budget.begin();
    if (typeof begun === 'string') return declined(begun);
    try {
      const { params } = request;
      if (typeof params?.message !== 'string' || params.message.length > MAX_MESSAGE) return declined('message');
      const message = forTerminal(params.message, { lines: true });
      if (handler === undefined) return declined('no-consent');
      return params.mode === 'url'
        ? await openAddress(params as ElicitRequestURLParams, message, handler, ctx)
        : await fillForm(params as ElicitRequestFormParams, message, handler, ctx);
    } catch (error) {
      // A hook that failed, or an event that could not be recorded: that is no word of the user's.
      if (error instanceof GuardRefusal && error.reason !== 'not-recorded') return { action: 'cancel' };
      throw error;
    } finally {
      begun.end();
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
    const answer = await asked(
      decisions,
      () => ask({ mode: 'form', server, message, fields: form.fields, signal }, ctx),
      signal,
    );
    if (answer?.action !== 'accept') return said(answer);
    const problem = answerProblem(form.fields, answer.content ?? {});
    if (problem !== undefined) {
      decisions.refused('answer-does-not-fit', { subject: problem });
      return { action: 'cancel' };
    }
    // Of the answer only what was asked for.
    const known = form.fields.flatMap(({ name }) => {
      const { content = {} } = answer;
      const value = Object.hasOwn(content, name) ? content[name] : undefined;
      return value === undefined ? [] : [[name, value] as const];
    });
    decisions.allowed('answered');
    return { action: 'accept', content: Object.fromEntries(known) };
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
    const answer = await asked(
      decisions,
      () => ask({ mode: 'url', server, message, url: url.href, host: url.host, warnings, signal }, ctx),
      signal,
    );
    if (answer?.action !== 'accept') return said(answer);
    decisions.allowed('opened', { subject: url.origin });
    return { action: 'accept' };
  }

  function said(answer: ElicitResult | undefined): ElicitResult {
    decisions.refused('declined');
    return { action: answer?.action === 'cancel' ? 'cancel' : 'decline' };
  }
}
