/** A request that was refused or failed. */

export class Refusal extends Error {
  /** The server's `error.data.reason`; else a reason of this page, such as `unavailable` where no answer came, or `internal`. */
  readonly reason: string;
  readonly code: number | undefined;

  constructor(reason: string, message: string, code?: number) {
    super(message);
    this.reason = reason;
    this.code = code;
  }
}

/** Turns any error into a refusal. */
export const refusalOf = (error: unknown): Refusal =>
  error instanceof Refusal ? error : new Refusal('internal', error instanceof Error ? error.message : String(error));

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';
