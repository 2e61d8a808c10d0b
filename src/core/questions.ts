/**
 * A read of another server that needs something of the client first, as 2026-07-28 allows: the question goes to the
 * client, and the read runs again with the answers and the state that came with the question.
 */
import { type InputRequest, type InputRequired, inputRequired } from '../protocol/input-required.ts';
import { ResourceError } from './errors.ts';
import type { Invocation } from './invocation.ts';

/** Nothing is read until these are answered. */
export class QuestionsAsked extends ResourceError {
  readonly requests: Readonly<Record<string, InputRequest>>;
  readonly state: unknown;

  constructor(requests: Readonly<Record<string, InputRequest>>, state: unknown, uri?: string) {
    super('denied', 'This resource asks its reader something first; read it with resources/read', { uri });
    this.requests = requests;
    this.state = state;
  }

  override withUri(uri: string): QuestionsAsked {
    return new QuestionsAsked(this.requests, this.state, uri);
  }
}

interface Carried {
  readonly questions: true;
  readonly inner: unknown;
  /** What was confirmed before the question is not asked about again. */
  readonly confirmed: readonly string[];
}

/** Runs a read; what it asks goes to the client, and what the client answered is in the context of the next run. */
export async function withQuestions<T>(
  invocation: Invocation,
  run: (invocation: Invocation) => Promise<T>,
): Promise<T | InputRequired> {
  const { state, answers } = invocation;
  const carried = isCarried(state) ? state : undefined;
  const confirmed = new Set([...invocation.confirmed, ...(carried?.confirmed ?? [])]);
  // Who knows beforehand what will be asked may answer at once.
  const early = state === undefined && Object.keys(answers).length > 0;
  const round = carried === undefined && !early ? {} : { round: { answers, state: carried?.inner } };
  try {
    return await run({ ...invocation, confirmed, ...round });
  } catch (error) {
    if (!(error instanceof QuestionsAsked)) throw error;
    const carry: Carried = { questions: true, inner: error.state, confirmed: [...confirmed] };
    return inputRequired(error.requests, invocation.seal(carry));
  }
}

const isCarried = (state: unknown): state is Carried =>
  typeof state === 'object' && state !== null && 'questions' in state && state.questions === true;
