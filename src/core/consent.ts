/**
 * Calls and prompts that a human has to allow first. Around the whole operation, whatever it asks by itself: the answer,
 * and what the operation has sealed and been answered, go round together.
 */
import { type InputRequired, inputRequired } from '../protocol/input-required.ts';
import { ConfirmationNeeded, confirmationIn, confirmationRequest } from './confirmation.ts';
import type { Invocation } from './invocation.ts';

const SCHEMA = {
  type: 'object',
  properties: { confirm: { type: 'boolean', title: 'Allow it', description: 'Let it be done this time' } },
  required: ['confirm'],
} as const;

interface Carried {
  readonly consented: true;
  /** Keys of what was confirmed. */
  readonly confirmed: readonly string[];
  /** Key of the question that goes round, and what the operation had been answered before it. */
  readonly asking?: { readonly key: string; readonly answers: Invocation['answers'] };
  readonly inner: unknown;
}

/**
 * Runs an operation; when it may only go on with a human's consent, asks for it and runs it again with the answer.
 * @throws ResourceError `denied` when the user said no, or cannot be asked
 */
export async function withConsent<T>(
  invocation: Invocation,
  run: (invocation: Invocation) => Promise<T>,
): Promise<T | InputRequired> {
  const carried = isCarried(invocation.state) ? invocation.state : undefined;
  const { asking } = carried ?? {};
  const answer = asking === undefined ? undefined : (confirmationIn(invocation.answers) ?? 'no');
  const yes = asking !== undefined && answer === 'yes' ? [asking.key] : [];
  const keys = [...(carried?.confirmed ?? []), ...yes];
  const state = carried === undefined ? invocation.state : carried.inner;
  const answers = asking?.answers ?? invocation.answers;
  const seal = (inner: unknown, next?: Carried['asking']): string =>
    invocation.seal({
      consented: true,
      confirmed: keys,
      inner,
      ...(next !== undefined && { asking: next }),
    } satisfies Carried);
  try {
    return await run({
      ...invocation,
      state,
      answers,
      ...(keys.length > 0 && { confirmed: new Set([...invocation.confirmed, ...keys]), seal }),
      ...(asking !== undefined && answer === 'no' && { refused: new Set([asking.key]) }),
    });
  } catch (error) {
    if (!(error instanceof ConfirmationNeeded) || !invocation.client.elicitation) throw error;
    return inputRequired(confirmationRequest(error.question, SCHEMA), seal(state, { key: error.key, answers }));
  }
}

const isCarried = (state: unknown): state is Carried =>
  typeof state === 'object' && state !== null && 'consented' in state && state.consented === true;
