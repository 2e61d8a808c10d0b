/** A fault in a prompt's file, and its line. For whoever wrote the file: it goes to the log, not to a client. */
export class PromptFileError extends Error {
  override readonly name = 'PromptFileError';
  /** From 1, in the file. */
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}
