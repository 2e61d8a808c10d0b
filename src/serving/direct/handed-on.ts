/**
 * Calls that have run already, and whose outcome is the SDK's to send: a question to the client, an error, a result that
 * it has to look at. The handler of the request gives that outcome, so that nothing is called a second time.
 */

type Outcome = {
  /** Under which the log, the audit and an error know it. */
  readonly requestId: string;
} & ({ readonly result: object } | { readonly error: unknown });

const outcomes = new WeakMap<Request, Outcome>();

/** Keeps what a request has come to, for the SDK's path to answer it with. */
export function handOn(request: Request, outcome: Outcome): void {
  outcomes.set(request, outcome);
}

export const isHandedOn = (request: Request): boolean => outcomes.has(request);

/** The id that the request had when it ran; undefined where it has not run yet. */
export const handedOnId = (request: Request | undefined): string | undefined =>
  request === undefined ? undefined : outcomes.get(request)?.requestId;

/**
 * What the request has come to; undefined where it has not run yet.
 * @throws what it failed with
 */
export function handedOn(request: Request | undefined): object | undefined {
  const outcome = request === undefined ? undefined : outcomes.get(request);
  if (outcome === undefined) return undefined;
  if ('error' in outcome) throw outcome.error;
  return outcome.result;
}
