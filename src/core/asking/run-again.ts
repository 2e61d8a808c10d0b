/**
 * Asks the client for an answer that an operation needs (`needed.ts`), and runs the operation again with it. Nothing is kept in
 * memory meanwhile: the client's earlier answers, and the state and answers of the operation's own questions, are sealed and
 * go to the client and back with the question.
 */
import { type ElicitationAnswer, type InputRequired, inputRequired } from '../../protocol/input-required.ts';
import type { Invocation } from '../invocation.ts';
import { AnswerNeeded, CONFIRM, ConfirmationNeeded, humanRefused, ROOTS, rootsIn } from './needed.ts';

/** The state that goes to the client and back with a question. */
interface Round {
  /** The state that the operation itself sealed. */
  readonly state?: unknown;
  /** The client's roots, where it was asked for them and gave them. */
  readonly roots?: readonly string[] | undefined;
  /** Keys of what a human has confirmed. */
  readonly confirmed?: readonly string[] | undefined;
  /** The question of this round; undefined where the operation itself asks. */
  readonly asking?: Asking | undefined;
}

interface Asking {
  /** The key of the operation to confirm; undefined if the question is for the roots. */
  readonly key?: string | undefined;
  /** The client's answers to the operation's own questions, up to now. */
  readonly answers: Invocation['answers'];
}

/**
 * Runs an operation. If it needs an answer, returns a question for the client. The client repeats its request with the answer,
 * and the operation runs again with it.
 * @throws ResourceError `denied` if the client cannot be asked, or a human has said no
 */
export async function askAndRunAgain<T extends object>(
  invocation: Invocation,
  run: (invocation: Invocation) => Promise<T>,
): Promise<T | InputRequired> {
  // A state is always a `Round`, since it is sealed only in this function.
  const round: Round = invocation.state ?? {};
  const { asking, state } = round;
  const asksRoots = asking !== undefined && asking.key === undefined;
  const answeredRoots = round.roots ?? (asksRoots ? rootsIn(invocation.answers[ROOTS]) : undefined);
  const roots = invocation.roots ?? answeredRoots;
  const key = asking?.key;
  const saidYes = isYes(invocation.answers[CONFIRM]);
  const confirmed = key !== undefined && saidYes ? [...(round.confirmed ?? []), key] : round.confirmed;
  const carried = { roots: answeredRoots, confirmed };
  const again: Invocation = {
    ...invocation,
    roots,
    state,
    answers: asking?.answers ?? invocation.answers,
    confirmed: confirmed === undefined ? invocation.confirmed : new Set([...invocation.confirmed, ...confirmed]),
    refused: key !== undefined && !saidYes ? new Set([key]) : invocation.refused,
    // A client that did not give its roots is not asked for them again.
    client: asksRoots && roots === undefined ? { ...invocation.client, roots: false } : invocation.client,
    seal: (sealed) => invocation.seal({ ...carried, state: sealed } satisfies Round),
  };
  try {
    return await run(again);
  } catch (error) {
    if (!(error instanceof AnswerNeeded)) throw error;
    const requests = error.question(again);
    if (requests === undefined) {
      if (again.refused === undefined || !(error instanceof ConfirmationNeeded)) throw error;
      throw humanRefused(error.uri);
    }
    const next = { key: error instanceof ConfirmationNeeded ? error.key : undefined, answers: again.answers };
    return inputRequired(requests, invocation.seal({ ...carried, state, asking: next } satisfies Round));
  }
}

/** Whether the client says that its user said yes. A client that comes back without an answer has said no. */
function isYes(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null || !('action' in answer)) return false;
  const { action, content } = answer as ElicitationAnswer;
  return action === 'accept' && content?.[CONFIRM] === true;
}
