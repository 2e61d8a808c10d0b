/** A request that was refused or failed. */

export class Refusal extends Error {
  /** The server's `error.data.reason`; `unavailable` where no answer came, and `internal` where the server gave no reason. */
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
