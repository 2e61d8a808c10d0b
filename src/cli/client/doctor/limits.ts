/** How far the doctor looks. */

export interface Limits {
  /** Resources that are read, templates and prompts that are tried. */
  readonly sample: number;
  /** Pages of a list. */
  readonly pages: number;
  /** Milliseconds for an answer. */
  readonly timeoutMs: number;
  /** Milliseconds that a program may take to end, when nobody writes to it any more. */
  readonly endMs: number;
}
