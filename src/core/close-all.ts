/** Closes several things. If one cannot be closed, the others are closed all the same. */

/**
 * Closes one thing after the other, also after one has failed.
 * @throws the error of the one that failed; an AggregateError with all errors if several failed
 */
export async function closeAll(...closings: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of closings) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 1) throw new AggregateError(errors, 'Several parts could not be closed');
  if (errors.length > 0) throw errors[0];
}
