/** How replicas tell each other what only one of them knows, and where they keep what all of them need. */

/** How much a bus has done since it was opened, and how it is. */
export interface BusState {
  /** Messages that left for the other replicas, and those that came from them. */
  readonly sent: number;
  readonly heard: number;
  /** Bytes of their texts, before they are sealed. */
  readonly sentBytes: number;
  readonly heardBytes: number;
  /** Messages that were never sent, because too many waited or the bus was away: the others count everything as changed instead. */
  readonly dropped: number;
  /** Times that everything counted as changed here. */
  readonly mended: number;
  /** Messages waiting to be sent now. */
  readonly waiting: number;
  /** From when the oldest of those that left last was said until they had been sent, in milliseconds; undefined before the first. */
  readonly lagMs: number | undefined;
  readonly whole: boolean;
}

/** Called with the data of a message. */
export type BusListener = (data: unknown) => void;

export interface Bus {
  /**
   * Tells all other replicas, and not this one. Messages that are the same and leave together are one. Never throws: what
   * cannot be sent is lost, and the others hear `mended` then.
   * @param data of JSON
   */
  publish(topic: string, data: unknown): void;
  /** Hears what other replicas publish. @returns takes it back */
  listen(topic: string, listener: BusListener): () => void;
  /** Called when messages may have been lost, or what was kept may have been: anything may have happened. @returns takes it back */
  onMended(listener: () => void): () => void;
  /** Whether messages get through now, as far as is known. */
  readonly whole: boolean;
  /** Read whenever metrics are. */
  state(): BusState;
  readonly memory: BusMemory;
  /** Resolves when nothing is left running. */
  close(): Promise<void>;
}

/** So much in so many seconds. */
export interface SharedRate {
  readonly most: number;
  readonly seconds: number;
}

/** A part of what may happen in a time. */
export interface Share {
  readonly got: number;
  /** Until that time is over, in milliseconds. */
  readonly msLeft: number;
}

/** How much may be kept, and for how long. */
export interface Room {
  /** Of all texts that are kept like that, with their names. */
  readonly maxBytes: number;
  /** A text that nobody used for so long may be forgotten. */
  readonly ttlMs: number;
}

/** Texts that all replicas see, by key and field; a key ends with its life time. */
export interface BusMemory {
  /**
   * Keeps a text, and gives its key so many milliseconds more.
   * @returns how many fields the key has now
   * @throws ResourceError `unavailable`
   */
  put(key: string, field: string, text: string, ttlMs: number): Promise<number>;
  /**
   * Keeps this text and nothing else under its key. Where there is no room for all such keys, the oldest are forgotten.
   * @throws ResourceError `unavailable`
   */
  replace(key: string, field: string, text: string, ttlMs: number): Promise<void>;
  /** @throws ResourceError `unavailable` */
  remove(key: string, field: string): Promise<void>;
  /**
   * Takes of what may happen in a time in all replicas together. The time begins with the first that is taken.
   * @returns no more than is wanted, and 0 where all of it is taken
   * @throws ResourceError `unavailable`
   */
  take(key: string, wanted: number, rate: SharedRate): Promise<Share>;
  /**
   * Takes a lease, or gives it more time: it is the holder's for so many milliseconds by the clock of whoever keeps it, unless
   * another one has it.
   * @returns whether the holder has it now
   * @throws ResourceError `unavailable`
   */
  lease(name: string, holder: string, ttlMs: number): Promise<boolean>;
  /** Gives a lease back; does nothing where another one has it. @throws ResourceError `unavailable` */
  release(name: string, holder: string): Promise<void>;
  /** The texts of a key by field; none where there is no such key. @throws ResourceError `unavailable` */
  all(key: string): Promise<ReadonlyMap<string, string>>;
  /**
   * Keeps a text that can be made again, with others of its kind: where there is no room for all of them, those that were used
   * longest ago are forgotten. One that is larger than all the room is not kept. Whoever keeps it may read it: it is sealed before.
   * @throws ResourceError `unavailable`
   */
  keep(name: string, text: string, room: Room): Promise<void>;
  /** The text that was kept under a name; undefined where it was not, or was forgotten. @throws ResourceError `unavailable` */
  kept(name: string): Promise<string | undefined>;
}
