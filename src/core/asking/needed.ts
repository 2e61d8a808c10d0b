/**
 * Errors of an operation that needs an answer from its client. A layer or a provider throws one. Where the client can be
 * asked, the request becomes a question and runs again with the answer (`run-again.ts`). Where it cannot, the error is a
 * plain `denied`.
 */
import { isData } from '../../protocol/data.ts';
import { elicitation, type InputRequest, roots as whichRoots } from '../../protocol/input-required.ts';
import type { Context } from '../context.ts';
import { ResourceError } from '../errors.ts';

export type InputRequests = Readonly<Record<string, InputRequest>>;

/** The error of an operation that does nothing until the client has answered. */
export abstract class AnswerNeeded extends ResourceError {
  /** Returns the questions for the client; undefined if it cannot be asked, or its user has refused a question before. */
  abstract question(ctx: Pick<Context, 'client' | 'refused'>): InputRequests | undefined;
}

/** Whether the client will be asked: then nothing has failed yet. */
export const isAsked = (error: unknown, ctx: Context): boolean =>
  error instanceof AnswerNeeded && error.question(ctx) !== undefined;

/** Nothing is shown until the client's roots are known (SEC-ROOT-2). */
export class RootsNeeded extends AnswerNeeded {
  constructor(uri?: string) {
    super(
      'denied',
      "Only what lies under the client's roots is shown here, and the client has not said what they are. A client that " +
        'declares roots is asked for them; with revision 2026-07-28 that works in resources/read, tools/call and ' +
        'prompts/get: read by URI, or use the tools',
      { uri },
    );
  }

  override question({ client }: Pick<Context, 'client'>): InputRequests | undefined {
    return client?.roots === true ? { [ROOTS]: whichRoots() } : undefined;
  }

  override withUri(uri: string): RootsNeeded {
    return new RootsNeeded(uri);
  }
}

/** The most roots of one client that count; the others are ignored. */
export const MAX_ROOTS = 100;

/** The URIs in an answer to `roots/list`, as the client claims them; undefined for any other answer. */
export function rootsIn(answer: unknown): readonly string[] | undefined {
  if (!isData(answer) || !Array.isArray(answer.roots)) return undefined;
  const uris = answer.roots.map((root: unknown) => (isData(root) ? root.uri : undefined));
  return Object.freeze(uris.filter((uri) => typeof uri === 'string').slice(0, MAX_ROOTS));
}

/** A human has to confirm the operation first. */
export class ConfirmationNeeded extends AnswerNeeded {
  /** The entry that `Context.confirmed` has to have. */
  readonly key: string;
  readonly #message: string;

  /** @param question the question to the human @param uri the resource that the question is about, if it is about one */
  constructor(key: string, question: string, uri?: string) {
    const what = uri === undefined ? 'This is done' : 'This resource is read';
    super('denied', `${what} only after a human has confirmed it, and this client cannot ask one`, { uri });
    this.key = key;
    this.#message = question;
  }

  /** A human who has refused one question is not asked another one. */
  override question({ client, refused }: Pick<Context, 'client' | 'refused'>): InputRequests | undefined {
    if (client?.elicitation !== true || refused !== undefined) return undefined;
    const title = this.uri === undefined ? ALLOW : READ;
    const schema = {
      type: 'object',
      properties: { [CONFIRM]: { type: 'boolean', ...title } },
      required: [CONFIRM],
    };
    return { [CONFIRM]: elicitation(this.#message, schema) };
  }

  override withUri(uri: string): ConfirmationNeeded {
    return new ConfirmationNeeded(this.key, this.#message, uri);
  }
}

/** The error for an operation that a human has refused. @param uri the resource that the question was about, if it was about one */
export const humanRefused = (uri: string | undefined): ResourceError =>
  uri === undefined
    ? new ResourceError('denied', 'The user did not allow this')
    : new ResourceError('denied', 'The user did not let this resource be read', { uri });

const READ = { title: 'Read it', description: 'Let the resource be read this time' };
const ALLOW = { title: 'Allow it', description: 'Let it be done this time' };

/** Another server has questions before it lets a resource be read; both the questions and the state are from that server. */
export class QuestionsAsked extends ResourceError {
  readonly requests: InputRequests;
  readonly state: unknown;

  constructor(requests: InputRequests, state: unknown, uri?: string) {
    super('denied', 'This resource asks its reader something first; read it with resources/read', { uri });
    this.requests = requests;
    this.state = state;
  }

  override withUri(uri: string): QuestionsAsked {
    return new QuestionsAsked(this.requests, this.state, uri);
  }
}

/** The keys under which a client answers. */
export const ROOTS = 'roots';
export const CONFIRM = 'confirm';
