/** Keeps shared answers in the memory of a bus: in Redis or Valkey, or in the parent process of the workers. */
import type { BusMemory } from '../bus.ts';
import type { AnswerStore } from './shared-answers.ts';

/** The default limit on the bytes of all answers on a bus. */
const DEFAULT_BUS_BYTES = 64 * 1024 * 1024;

/** The largest answer, as a share of all bytes. */
const LARGEST = 1 / 16;

/** An answer that nobody has used for so many milliseconds is removed. */
const UNUSED_MS = 24 * 3_600_000;

/** The length of a base64 text for each byte that it encodes. */
const BASE64 = 4 / 3;

/** The prefix of the names of leases. */
const LEASE = 'answer ';

/** @param maxBytes the most bytes of all answers together, in base64. Default: 67,108,864 */
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
