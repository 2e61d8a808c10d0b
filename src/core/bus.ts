/** A bus joins replicas: they send each other messages, and keep texts that all of them need. */

/** How much a bus has done since it was opened, and its state now. */
export interface BusState {
  /** Messages that left for the other replicas, and those that came from them. */
  readonly sent: number;
  readonly heard: number;
  /** Bytes of their texts, before they are sealed. */
  readonly sentBytes: number;
  readonly heardBytes: number;
  /**
   * Messages that were never sent, because too many waited or the bus was away: the others count everything as changed instead.
   */
  readonly dropped: number;
  /** How often everything counted as changed here, since messages may have been lost. */
  readonly mended: number;
  /** Messages waiting to be sent now. */
  readonly waiting: number;
  /** How many milliseconds the oldest of the messages that were sent last had waited; undefined before the first. */
  readonly lagMs: number | undefined;
  /** Whether messages get through now, as far as is known. */
  readonly whole: boolean;
}

/** Called with the data of a message. */
export type BusListener = (data: unknown) => void;

export interface Bus {
  /**
   * Sends a message to all other replicas, and not to this one. Equal messages that leave together are sent once. Never throws:
   * a message that cannot be sent is lost, and the listeners of `onMended` are called at the other replicas.
   * @param data JSON data
   */
  publish(topic: string, data: unknown): void;
  /** Calls the listener with each message of other replicas. @returns a function that removes the listener */
  listen(topic: string, listener: BusListener): () => void;
  /**
   * Calls the listener when messages or kept texts may have been lost: then anything may have changed.
   * @returns a function that removes the listener
   */
  onMended(listener: () => void): () => void;
  /** Whether messages get through now, as far as is known. */
  readonly whole: boolean;
  /** Returns the state now. It is read whenever metrics are. */
  state(): BusState;
  readonly memory: BusMemory;
  /** Resolves when nothing is left running. */
  close(): Promise<void>;
}

/** A limit on events of one kind in all replicas together: at most so many in so many seconds. */
export interface SharedRate {
  readonly most: number;
  readonly seconds: number;
}

/** The part of a shared rate that one replica got. */
export interface Share {
  /** How many events were granted. */
  readonly got: number;
  /** The milliseconds until the rate's time is over. */
  readonly msLeft: number;
}

/** How much may be kept, and for how long. */
export interface Room {
  /** The most bytes of all texts that are kept in this room, with their names. */
  readonly maxBytes: number;
  /** A text that nobody has used for so many milliseconds may be forgotten. */
  readonly ttlMs: number;
}

/** Texts that all replicas see, by key and field. A key is forgotten when its lifetime is over. */
export interface BusMemory {
  /**
   * Keeps a text. Its key then lives for at least `ttlMs` milliseconds from now.
   * @returns how many fields the key has now
   * @throws ResourceError `unavailable`
   */
  put(key: string, field: string, text: string, ttlMs: number): Promise<number>;
  /**
   * Keeps this text and nothing else under its key. If a memory limits the number of such keys, it forgets those that were used
   * longest ago.
   * @throws ResourceError `unavailable`
   */
  replace(key: string, field: string, text: string, ttlMs: number): Promise<void>;
  /** @throws ResourceError `unavailable` */
  remove(key: string, field: string): Promise<void>;
  /**
   * Takes a part of a rate that all replicas share. The rate's time begins when the first part is taken.
   * @returns a share of at most `wanted`; of 0 if nothing is left
   * @throws ResourceError `unavailable`
   */
  take(key: string, wanted: number, rate: SharedRate): Promise<Share>;
  /**
   * Takes a lease or extends it, unless another holder has it. The lease lasts for `ttlMs` milliseconds by the clock of the
   * server that keeps it.
   * @returns whether the holder has it now
   * @throws ResourceError `unavailable`
   */
  lease(name: string, holder: string, ttlMs: number): Promise<boolean>;
  /** Gives a lease back; does nothing if another holder has it. @throws ResourceError `unavailable` */
  release(name: string, holder: string): Promise<void>;
  /** Returns the texts of a key by field; none if there is no such key. @throws ResourceError `unavailable` */
  all(key: string): Promise<ReadonlyMap<string, string>>;
  /**
   * Keeps a text that can be made again. If there is no room for all such texts, those that were used longest ago are forgotten.
   * A text that is larger than the whole room is not kept. The server that keeps a text can read it, so seal it before.
   * @throws ResourceError `unavailable`
   */
  keep(name: string, text: string, room: Room): Promise<void>;
  /**
   * Returns the text that was kept under a name; undefined if there is none, or it was forgotten.
   * @throws ResourceError `unavailable`
   */
  kept(name: string): Promise<string | undefined>;
}
