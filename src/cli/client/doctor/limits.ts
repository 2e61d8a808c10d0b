/** The limits of an examination. */

export interface Limits {
  /** The most resources, containers, skills and files of skills that each check tries. */
  readonly sample: number;
  /** The most pages of a list. */
  readonly pages: number;
  /** Milliseconds for an answer. */
  readonly timeoutMs: number;
  /** Milliseconds that a program may take to end after its standard input is closed. */
  readonly endMs: number;
}
