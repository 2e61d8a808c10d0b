/**
 * Lends memory for a read, and uses it again once the answer has been sent. Without this, reads in large pieces would leave
 * many buffers for the garbage collector.
 */

/** Bytes of one block of lent memory. */
export const BLOCK_BYTES = 256 * 1024;

/** The most free blocks that are kept for their next use. The budget of all reads (`maxHeldBytes`) limits how many are lent. */
const MAX_FREE_BLOCKS = 256;

/** How long free blocks are kept after the end of the latest loan, in milliseconds. */
const FREE_MS = 2_000;

const free: Buffer[] = [];
let forgetting: NodeJS.Timeout | undefined;

/** The blocks that are lent for one read. The reader passes the loan on with its answer; the writer of the answer ends it. */
export class Loan {
  readonly #taken = new Set<Buffer>();
  readonly #filled: Buffer[] = [];
  readonly #callbacks: (() => void)[] = [];
  #over = false;

  /** Lends a block of `BLOCK_BYTES` to read into. It may still contain earlier data. */
  take(): Buffer {
    const block = free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#taken.add(block);
    return block;
  }

  /**
   * Declares that nothing writes into a block any more. Only then is the block used again when the loan ends: an abandoned
   * read that still runs would otherwise write into a block of another loan. Does nothing for memory that this loan did not lend.
   */
  filled(block: Buffer): void {
    if (!this.#over && this.#taken.delete(block)) this.#filled.push(block);
  }

  /** Calls back when the loan ends; at once if it has ended. */
  onEnd(callback: () => void): void {
    if (this.#over) callback();
    else this.#callbacks.push(callback);
  }

  /** Ends the loan: nobody reads the blocks any more. Does nothing the second time. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    for (const block of this.#filled) if (free.length < MAX_FREE_BLOCKS) free.push(block);
    for (const callback of this.#callbacks) callback();
    if (free.length === 0) return;
    forgetting ??= setTimeout(() => void free.splice(0), FREE_MS).unref();
    forgetting.refresh();
  }
}
