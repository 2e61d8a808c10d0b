/** How replicas tell each other what only one of them knows, and where they keep what all of them need. */

/** Says what is wrong with the address of a bus, and nothing that is in it; undefined where nothing is. */
export function busProblem(url: string): string | undefined {
  if (!/^rediss?:\/\//.test(url) || !URL.canParse(url))
    return 'is an address as in redis://host:6379 or rediss://host:6379';
  return /^(\/\d*)?$/.test(new URL(url).pathname)
    ? undefined
    : 'has nothing behind its host, or the number of a database';
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
  readonly memory: BusMemory;
  /** Resolves when nothing is left running. */
  close(): Promise<void>;
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
  /** The texts of a key by field; none where there is no such key. @throws ResourceError `unavailable` */
  all(key: string): Promise<ReadonlyMap<string, string>>;
}
