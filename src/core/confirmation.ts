/**
 * Reads that a human has to confirm. A layer refuses them with `ConfirmationNeeded`; a frontend turns that into a
 * question to the client's user, and reads again with the answer. Who is asked, and about what, is the layer's business.
 */
import {
  type ElicitationAnswer,
  elicitation,
  type InputRequest,
  type InputRequired,
  inputRequired,
} from '../protocol/input-required.ts';
import { ResourceError } from './errors.ts';
import type { Invocation } from './invocation.ts';

/** What may go on once a human has said so. Where nobody can be asked it is a plain `denied`. */
export class ConfirmationNeeded extends ResourceError {
  /** What `Context.confirmed` has to have in it. */
  readonly key: string;
  readonly question: string;

  /** @param uri the resource that it is about, if it is about one */
  constructor(key: string, question: string, uri?: string) {
    const what = uri === undefined ? 'This is done' : 'This resource is read';
    super('denied', `${what} only after a human has confirmed it, and this client cannot ask one`, { uri });
    this.key = key;
    this.question = question;
  }

  override withUri(uri: string): ConfirmationNeeded {
    return new ConfirmationNeeded(this.key, this.question, uri);
  }
}

const KEY = 'confirm';

const SCHEMA = {
  type: 'object',
  properties: { confirm: { type: 'boolean', title: 'Read it', description: 'Let the resource be read this time' } },
  required: ['confirm'],
} as const;

/** The question to a human whether something may be, under the key of its answer. */
export const confirmationRequest = (
  question: string,
  schema: Readonly<Record<string, unknown>> = SCHEMA,
): Readonly<Record<string, InputRequest>> => ({
  [KEY]: elicitation(question, schema),
});

/**
 * Runs a read; when it needs a confirmation, asks for it and runs it again with the answer.
 * @throws ResourceError `denied` when the user said no, or cannot be asked
 */
export async function withConfirmation<T>(
  invocation: Invocation,
  run: (invocation: Invocation) => Promise<T>,
): Promise<T | InputRequired> {
  const asked = askedFor(invocation.state);
  const answer = asked.length > 0 ? answerOf(invocation.answers[KEY]) : undefined;
  const confirmed = answer === 'yes' ? new Set([...invocation.confirmed, ...asked]) : invocation.confirmed;
  const refused = answer === 'no' ? new Set(asked.slice(-1)) : invocation.refused;
  try {
    return await run({ ...invocation, confirmed, refused });
  } catch (error) {
    if (!(error instanceof ConfirmationNeeded) || !invocation.client.elicitation) throw error;
    if (answer === 'no')
      throw new ResourceError('denied', 'The user did not let this resource be read', { uri: error.uri });
    return inputRequired(confirmationRequest(error.question), invocation.seal({ confirming: [...asked, error.key] }));
  }
}

/** URIs that the question was about, from our own sealed state. */
function askedFor(state: unknown): readonly string[] {
  if (typeof state !== 'object' || state === null || !('confirming' in state) || !Array.isArray(state.confirming))
    return [];
  return state.confirming.filter((uri) => typeof uri === 'string');
}

/** What the client says that its user said. */
export const confirmationIn = (answers: Invocation['answers']): 'yes' | 'no' | undefined => answerOf(answers[KEY]);

function answerOf(answer: unknown): 'yes' | 'no' | undefined {
  if (typeof answer !== 'object' || answer === null || !('action' in answer)) return undefined;
  const { action, content } = answer as ElicitationAnswer;
  return action === 'accept' && content?.confirm === true ? 'yes' : 'no';
}
