/** The options of example; each is documented in `docs/providers/example.md`. */
import { z } from 'zod';
import { nameProblem } from '../../core/uri.ts';

const name = z.string().refine((each) => nameProblem(each) === undefined, 'is one name, without slashes');

export const exampleConfig = z.strictObject({
  /** The data that is mounted. */
  example: z.record(name, z.string()).describe('Texts by their names'),
});

export type ExampleConfig = z.infer<typeof exampleConfig>;

export interface ExampleOptions extends ExampleConfig {
  /** The name of the root. Default: example */
  readonly name?: string;
}
