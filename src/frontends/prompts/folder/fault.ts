/** What is wrong with a prompt's file, and in which line. For whoever wrote it: it goes to the log, not to a client. */
export class PromptFileError extends Error {
  override readonly name = 'PromptFileError';
  /** From 1, in the file. */
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}
