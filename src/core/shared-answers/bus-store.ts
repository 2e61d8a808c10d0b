/** Keeps shared answers in the memory of a bus: in Redis or Valkey, or with the parent of workers. */
import type { BusMemory } from '../bus.ts';
import type { AnswerStore } from './shared-answers.ts';

/** Bytes of all answers on a bus, unless told otherwise. */
const DEFAULT_BUS_BYTES = 64 * 1024 * 1024;

/** One answer may take this part of all bytes. */
const LARGEST = 1 / 16;

/** Nobody used it for so long: it is forgotten then, in milliseconds. */
const UNUSED_MS = 24 * 3_600_000;

/** A text has so many bytes for each byte in it. */
const BASE64 = 4 / 3;

/** Stands before the names of leases. */
const LEASE = 'answer ';

/** @param maxBytes of all answers, as texts. Default: 67,108,864 */
export const busStore = (memory: BusMemory, maxBytes = DEFAULT_BUS_BYTES): AnswerStore => ({
  maxAnswerBytes: Math.floor((maxBytes * LARGEST) / BASE64),
  async read(name) {
    const text = await memory.kept(name);
    return text === undefined ? undefined : Buffer.from(text, 'base64');
  },
  write: (name, sealed) =>
    memory.keep(name, Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength).toString('base64'), {
      maxBytes,
      ttlMs: UNUSED_MS,
    }),
  lease: (name, holder, ttlMs) => memory.lease(LEASE + name, holder, ttlMs),
  release: (name, holder) => memory.release(LEASE + name, holder),
});
