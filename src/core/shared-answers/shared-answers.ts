/**
 * Answers that are the same for everybody, since they depend on nothing but the bytes that they are made of: whoever makes one
 * keeps it where other processes, and later ones, find it (`docs/decisions/0066-shared-answers.md`).
 */

/**
 * Tells one answer from all others: all that it depends on, with a digest of the bytes among it. So only those can ask for an
 * answer who have read what it is made of.
 */
export type AnswerKey = readonly string[];

export interface SharedAnswers {
  /**
   * The answer of a key; undefined where there is none, or where nobody can say now. Never throws.
   * @param maxBytes the most bytes that it may have
   */
  get(key: AnswerKey, maxBytes: number): Promise<Uint8Array | undefined>;
  /** Keeps an answer, while its maker goes on. Never throws: an answer that cannot be kept is made again. */
  put(key: AnswerKey, answer: Uint8Array): void;
  /**
   * Makes an answer and keeps it. While another process makes the same one, this one waits for it, and makes it only if the other
   * gives it up or takes too long.
   * @throws what `work` throws, and the reason of the signal
   */
  make(key: AnswerKey, maxBytes: number, work: () => Promise<Uint8Array>, signal: AbortSignal): Promise<Uint8Array>;
  /** Read whenever metrics are. */
  state(): AnswersState;
  /** Resolves when what was put is kept, or took too long. */
  close(): Promise<void>;
}

export interface AnswersState {
  /** Answers that were asked for and found, those that nobody had kept, and those of which nobody could say. */
  readonly found: number;
  readonly missing: number;
  readonly failed: number;
  /** Answers that were kept, and those that could not be. */
  readonly kept: number;
  readonly lost: number;
  /** Answers that were not as they had been kept: damaged, cut off, or sealed with a key that is not among these. */
  readonly damaged: number;
  /** Whether reading and keeping succeeded the last time. */
  readonly whole: boolean;
}

/** A place that keeps sealed bytes by names of 64 hexadecimal digits, and forgets those that were used longest ago. */
export interface AnswerStore {
  /** The most bytes of one answer, sealed; larger ones are not given to it. */
  readonly maxAnswerBytes: number;
  /** @throws any error while it is away */
  read(name: string): Promise<Uint8Array | undefined>;
  /** @throws any error where it cannot be kept now */
  write(name: string, sealed: Uint8Array): Promise<void>;
  /** Removes what is damaged, where that does not go away by itself. Never throws. */
  remove?(name: string): Promise<void>;
  /**
   * Takes the lease to make the answer of a name, or gives it more time; without it, processes do not wait for each other.
   * @returns whether the holder has it now
   * @throws any error where nobody can say
   */
  lease?(name: string, holder: string, ttlMs: number): Promise<boolean>;
  /** Gives a lease back; does nothing where another one has it. @throws any error where it cannot */
  release?(name: string, holder: string): Promise<void>;
}
