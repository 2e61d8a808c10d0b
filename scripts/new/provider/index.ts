/**
 * Serves texts by their names, as in `example:///greeting`. Say here what it really serves.
 *
 * @example
 * const provider = exampleProvider({ example: { greeting: 'Hello' } });
 */
import type { ResourceProvider } from '../../core/provider.ts';
import type { ExampleOptions } from './config.ts';
import { entriesOf, entryOf, nameIn, rootOf, SCHEME } from './entries.ts';
import { listExample } from './list.ts';
import { readExample } from './read.ts';

export { type ExampleConfig, type ExampleOptions, exampleConfig } from './config.ts';

export function exampleProvider({ name = 'example', example }: ExampleOptions): ResourceProvider {
  const entries = entriesOf(name, example);
  return {
    name,
    features: { schemes: [SCHEME], watch: false, templates: false, completion: false, search: false, ranges: false },
    list: async (uri, page, ctx) => listExample(entries, uri, page, ctx),
    async metadata(uri) {
      const found = nameIn(uri);
      return found === undefined ? rootOf(entries) : entryOf(entries, found);
    },
    read: async (uri, want, ctx) => readExample(entries, uri, want, ctx),
  };
}
