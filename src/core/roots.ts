/**
 * Operations that are bounded by the client's roots (SEC-ROOT-2). A layer refuses them with `RootsNeeded` where the roots
 * are not known. In the 2025 era a connection knows them before anything runs; on 2026-07-28, where a request stands
 * alone, a frontend turns the refusal into a question to the client, and runs again with the answer.
 */
import { type InputRequired, inputRequired, roots as whichRoots } from '../protocol/input-required.ts';
import { ResourceError } from './errors.ts';
import type { Invocation } from './invocation.ts';

/** Roots of one client that are looked at. */
export const MAX_ROOTS = 100;

/** Nothing is shown until the client's roots are known. */
export class RootsNeeded extends ResourceError {
  constructor(uri?: string) {
    super(
      'denied',
      "Only what lies under the client's roots is shown here, and the client has not said what they are. A client that " +
        'declares roots is asked for them; with revision 2026-07-28 that works in resources/read, tools/call and ' +
        'prompts/get: read by URI, or use the tools',
      { uri },
    );
  }

  override withUri(uri: string): RootsNeeded {
    return new RootsNeeded(uri);
  }
}

/** The URIs in an answer to `roots/list`; the client's word. Undefined when it is no such answer. */
export function rootsIn(answer: unknown): readonly string[] | undefined {
  if (typeof answer !== 'object' || answer === null || !('roots' in answer) || !Array.isArray(answer.roots))
    return undefined;
  const uris = answer.roots.map((root: unknown) =>
    typeof root === 'object' && root !== null && 'uri' in root ? root.uri : undefined,
  );
  return Object.freeze(uris.filter((uri) => typeof uri === 'string').slice(0, MAX_ROOTS));
}

const KEY = 'roots';

/** What goes round with the question: what the operation itself had sealed and been answered, and the roots once known. */
interface Carried {
  readonly rooted: true;
  readonly roots?: readonly string[];
  readonly inner: unknown;
  readonly answers?: Invocation['answers'];
}

/**
 * Runs an operation; when it needs the client's roots, asks for them and runs it again with the answer.
 * @throws ResourceError `denied` when the client has no roots to ask for, or gives none
 */
export async function withRoots<T>(
  invocation: Invocation,
  run: (invocation: Invocation) => Promise<T>,
): Promise<T | InputRequired> {
  const { state } = invocation;
  const carried = isCarried(state) ? state : undefined;
  const roots = invocation.roots ?? carried?.roots ?? (carried && rootsIn(invocation.answers[KEY]));
  const inner: Invocation = {
    ...invocation,
    ...(roots !== undefined && { roots }),
    state: carried === undefined ? state : carried.inner,
    answers: carried?.answers ?? invocation.answers,
    seal: (own) => invocation.seal(roots === undefined ? own : ({ rooted: true, roots, inner: own } satisfies Carried)),
  };
  try {
    return await run(inner);
  } catch (error) {
    if (!(error instanceof RootsNeeded) || !invocation.client.roots || carried !== undefined) throw error;
    const asking: Carried = { rooted: true, inner: state, answers: invocation.answers };
    return inputRequired({ [KEY]: whichRoots() }, invocation.seal(asking));
  }
}

const isCarried = (state: unknown): state is Carried =>
  typeof state === 'object' && state !== null && 'rooted' in state && state.rooted === true;
