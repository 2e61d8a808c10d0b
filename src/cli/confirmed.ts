/** Asks the user to confirm something at the terminal. */
import { createInterface } from 'node:readline/promises';

/** Asks a question and waits for the answer. Only `y` and `yes` are a yes; the end of the input is a no. */
export async function confirmed(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<boolean> {
  const lines = createInterface({ input, output });
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `), ended]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
