/**
 * Shares answers between processes. Such an answer is the same for every caller, because it depends only on the bytes that it is
 * made of. The process that makes an answer keeps it where other and later processes find it
 * (`docs/decisions/0066-shared-answers.md`).
 */

/**
 * Identifies an answer: everything that it depends on, including a digest of the bytes that it is made of. So nobody can ask for
 * an answer without having read these bytes.
 */
export type AnswerKey = readonly string[];

export interface SharedAnswers {
  /**
   * Returns the answer of a key; undefined if none is kept or the store cannot be reached. Never throws.
   * @param maxBytes the most bytes of the answer
   */
  get(key: AnswerKey, maxBytes: number): Promise<Uint8Array | undefined>;
  /** Keeps an answer in the background. Never throws: an answer that cannot be kept is made again when it is needed. */
  put(key: AnswerKey, answer: Uint8Array): void;
  /**
   * Makes an answer with `work` and keeps it. If another process is making the same answer, this one waits for it, and calls
   * `work` only if the other process gives up or takes too long.
   * @throws whatever `work` throws, and the reason of the signal
   */
  make(key: AnswerKey, maxBytes: number, work: () => Promise<Uint8Array>, signal: AbortSignal): Promise<Uint8Array>;
  /** Returns the state for metrics. */
  state(): AnswersState;
  /** Resolves when all answers given to `put` are kept, or when keeping them takes too long. */
  close(): Promise<void>;
}

export interface AnswersState {
  /** Requests that found an answer. */
  readonly found: number;
  /** Requests for an answer that was not kept. */
  readonly missing: number;
  /** Requests that failed, because the store could not be read. */
  readonly failed: number;
  /** Answers that were kept. */
  readonly kept: number;
  /** Answers that could not be kept. */
  readonly lost: number;
  /** Answers that could not be opened: they were damaged, cut off, or sealed with a key that this process does not have. */
  readonly damaged: number;
  /** Whether the last read and the last write of the store succeeded. */
  readonly whole: boolean;
}

/** Keeps sealed bytes under names of 64 hexadecimal digits, and removes those that were used longest ago when it is full. */
export interface AnswerStore {
  /** The most bytes of one sealed answer. Larger ones must not be passed to `write`. */
  readonly maxAnswerBytes: number;
  /** @throws any error while the store cannot be reached */
  read(name: string): Promise<Uint8Array | undefined>;
  /** @throws any error if the answer cannot be kept now */
  write(name: string, sealed: Uint8Array): Promise<void>;
  /** Removes a damaged answer. A store leaves this out if a new answer replaces the damaged one anyway. Never throws. */
  remove?(name: string): Promise<void>;
  /**
   * Takes or renews the lease to make the answer of a name. If a store has no leases, processes do not wait for each other.
   * @param ttlMs how long the lease lasts without being renewed, in milliseconds
   * @returns whether the holder has the lease now
   * @throws any error while the store cannot be reached
   */
  lease?(name: string, holder: string, ttlMs: number): Promise<boolean>;
  /** Gives a lease back; does nothing if another holder has it. @throws any error while the store cannot be reached */
  release?(name: string, holder: string): Promise<void>;
}
