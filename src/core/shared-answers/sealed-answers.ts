/**
 * Keeps shared answers in a store that others can read: answers are sealed, and their names reveal nothing. The store may be
 * away, slow, full or damaged; then answers are made again, and the reader gets no error.
 */
import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRaw } from 'node:zlib';
import type { Log } from '../context.ts';
import { createSeal, type Keys, keyedNames } from '../keys.ts';
import { inTime, LATE } from '../waiting/in-time.ts';
import { createLeases } from './leases.ts';
import type { AnswerKey, AnswerStore, AnswersState, SharedAnswers } from './shared-answers.ts';

/** How long a reader waits for the store, in milliseconds: then the answer is made. */
const READ_MS = 2_000;

/** How long `close` waits for answers that are still being kept, in milliseconds. */
const CLOSE_MS = 2_000;

/** How long a store that failed is not used, in milliseconds. */
const REST_MS = 5_000;

/** The most bytes of answers that are being kept at a time. A further answer is not kept. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** The fewest bytes of an answer that is compressed. */
const MIN_COMPRESSED = 512;

/** The first byte of a packed answer: whether the others are compressed. */
const PLAIN = 0;
const COMPRESSED = 1;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

export interface SealedOptions {
  readonly store: AnswerStore;
  readonly keys: Keys;
  readonly log: Log;
  readonly now?: () => number;
}

export function sealedAnswers({ store, keys, log, now = Date.now }: SealedOptions): SharedAnswers {
  const { seal, open } = createSeal(keys, 'vitrine answers v1');
  const namesOf = keyedNames(keys, 'vitrine answers name v1');
  const counts = { found: 0, missing: 0, failed: 0, kept: 0, lost: 0, damaged: 0 };
  const reading = createFaults(
    log,
    'shared answers cannot be read, and are made here',
    'shared answers are read again',
    now,
  );
  const keeping = createFaults(log, 'shared answers cannot be kept', 'shared answers are kept again', now);
  const leases = createLeases(store);
  const waiting = new Set<Promise<void>>();
  let waitingBytes = 0;

  const namesOfKey = (key: AnswerKey): readonly string[] => namesOf(JSON.stringify(key));

  async function read(key: AnswerKey, maxBytes: number): Promise<Uint8Array | undefined> {
    for (const name of namesOfKey(key)) {
      const sealed = await store.read(name);
      if (sealed === undefined) continue;
      const plain = open(sealed, Buffer.from(name));
      const answer = plain && (await unpacked(plain, maxBytes));
      if (answer !== undefined) return answer;
      counts.damaged++;
      await store.remove?.(name);
    }
    return undefined;
  }

  async function keep(key: AnswerKey, answer: Uint8Array): Promise<void> {
    const [name = ''] = namesOfKey(key);
    const sealed = seal(await packed(answer), Buffer.from(name));
    if (sealed.byteLength > store.maxAnswerBytes) {
      counts.lost++;
      return;
    }
    await store.write(name, sealed);
    counts.kept++;
  }

  /** Returns `failed` if the store cannot be read now. */
  async function look(key: AnswerKey, maxBytes: number): Promise<Uint8Array | 'missing' | 'failed'> {
    if (reading.rests()) return 'failed';
    try {
      const answer = await inTime(read(key, maxBytes), READ_MS);
      if (answer === LATE) throw new Error(`There was no answer within ${READ_MS} ms`);
      reading.succeeded();
      return answer ?? 'missing';
    } catch (error) {
      reading.failed(error);
      return 'failed';
    }
  }

  /** Resolves when the answer is kept, or cannot be. */
  async function put(key: AnswerKey, answer: Uint8Array): Promise<void> {
    const { byteLength } = answer;
    // A store that cannot be read is not written either, so that the log reports the fault once.
    if (reading.rests() || keeping.rests() || waitingBytes + byteLength > MAX_WAITING_BYTES) {
      counts.lost++;
      return;
    }
    waitingBytes += byteLength;
    try {
      await keep(key, answer);
      keeping.succeeded();
    } catch (error) {
      counts.lost++;
      keeping.failed(error);
    } finally {
      waitingBytes -= byteLength;
    }
  }

  function later(work: Promise<void>): void {
    waiting.add(work);
    void work.finally(() => waiting.delete(work));
  }

  return {
    async get(key, maxBytes) {
      const answer = await look(key, maxBytes);
      if (typeof answer === 'string') counts[answer]++;
      else counts.found++;
      return typeof answer === 'string' ? undefined : answer;
    },
    put: (key, answer) => later(put(key, answer)),
    async make(key, maxBytes, work, signal) {
      if (reading.rests()) return work();
      const [name = ''] = namesOfKey(key);
      const taken = await leases.take(
        name,
        async () => {
          const answer = await look(key, maxBytes);
          return typeof answer === 'string' ? undefined : answer;
        },
        signal,
      );
      if ('found' in taken) return taken.found;
      try {
        const answer = await work();
        // The lease ends after the answer is kept, so that other processes find it and do not make it again.
        later(put(key, answer).finally(taken.end));
        return answer;
      } catch (error) {
        taken.end();
        throw error;
      }
    },
    state: (): AnswersState => ({ ...counts, whole: reading.whole && keeping.whole }),
    async close() {
      await inTime(Promise.all(waiting), CLOSE_MS);
    },
  };
}

/** Logs the first failure of a store and its recovery. After each failure, the store rests. */
interface Faults {
  readonly whole: boolean;
  rests(): boolean;
  failed(error: unknown): void;
  succeeded(): void;
}

function createFaults(log: Log, broken: string, mended: string, now: () => number): Faults {
  let restsUntil: number | undefined;
  return {
    get whole() {
      return restsUntil === undefined;
    },
    rests: () => restsUntil !== undefined && now() < restsUntil,
    failed(error) {
      if (restsUntil === undefined) log.warn(broken, { error });
      restsUntil = now() + REST_MS;
    },
    succeeded() {
      if (restsUntil !== undefined) log.warn(mended);
      restsUntil = undefined;
    },
  };
}

/** Compresses an answer if that makes it smaller. */
async function packed(answer: Uint8Array): Promise<Buffer> {
  if (answer.byteLength >= MIN_COMPRESSED) {
    const small = await deflate(answer, { level: constants.Z_BEST_SPEED });
    if (small.byteLength < answer.byteLength) return Buffer.concat([Buffer.of(COMPRESSED), small]);
  }
  return Buffer.concat([Buffer.of(PLAIN), answer]);
}

/** Returns undefined for bytes that `packed` did not make, and for an answer of more than `maxBytes`. */
async function unpacked(packed: Buffer, maxBytes: number): Promise<Uint8Array | undefined> {
  const body = packed.subarray(1);
  if (packed[0] === PLAIN) return body.byteLength > maxBytes ? undefined : body;
  if (packed[0] !== COMPRESSED) return undefined;
  return inflate(body, { maxOutputLength: maxBytes }).catch(() => undefined);
}
