/**
 * Memory that is lent for a read, and used again once its answer has been sent. What is read in large pieces would otherwise
 * wait for the garbage collector, many times over.
 */

/** Bytes of one block of lent memory. */
export const BLOCK_BYTES = 256 * 1024;

/** Blocks that wait for their next use. How many are lent at a time, the budget of all reads bounds (`maxHeldBytes`). */
const MAX_FREE_BLOCKS = 256;

/** How long they wait, in milliseconds. */
const FREE_MS = 2_000;

const free: Buffer[] = [];
let forgetting: NodeJS.Timeout | undefined;

/** The blocks that are lent for one read. Whoever reads hands the loan on; whoever writes the answer ends it. */
export class Loan {
  readonly #taken = new Set<Buffer>();
  readonly #filled: Buffer[] = [];
  readonly #ends: (() => void)[] = [];
  #over = false;

  /** A block to read into. There may be anything in it. */
  take(): Buffer {
    const block = free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#taken.add(block);
    return block;
  }

  /**
   * Nothing writes into a block any more. Without this it is not used again: a read that nobody waits for may still be
   * under way, and would write into what is another one's then. Of memory that was not lent it says nothing.
   */
  filled(block: Buffer): void {
    if (!this.#over && this.#taken.delete(block)) this.#filled.push(block);
  }

  /** Calls back when it ends; at once where it has. */
  onEnd(ended: () => void): void {
    if (this.#over) ended();
    else this.#ends.push(ended);
  }

  /** Nobody looks into the blocks any more. Does nothing the second time. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    for (const block of this.#filled) if (free.length < MAX_FREE_BLOCKS) free.push(block);
    for (const ended of this.#ends) ended();
    if (free.length === 0) return;
    forgetting ??= setTimeout(() => void free.splice(0), FREE_MS).unref();
    forgetting.refresh();
  }
}
