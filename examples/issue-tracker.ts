/**
 * A provider of your own: it lists issues in pages, completes the variable of a template, and reports changes.
 * With Node 22.18 or newer: node examples/issue-tracker.ts
 */
import { EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createVitrine, DIRECTORY_MIME_TYPE, defineProvider, serveHttp } from 'vitrine';

const ROOT = { uri: 'issue:///', name: 'issues', mimeType: DIRECTORY_MIME_TYPE };

export function createTracker() {
  const issues = new Map<string, { readonly title: string; readonly text: string }>();
  const changes = new EventEmitter();
  const describe = (uri: string) => ({ uri, title: issues.get(uri)?.title ?? '', mimeType: 'text/markdown' });

  const provider = defineProvider({
    name: 'issues',
    scheme: 'issue',
    list(uri, { cursor = '', limit }) {
      if (uri === undefined) return [ROOT];
      const rest = [...issues.keys()].filter((each) => each > cursor).sort();
      const page = rest.slice(0, limit);
      return { resources: page.map(describe), nextCursor: rest.length > limit ? page.at(-1) : undefined };
    },
    metadata: (uri) => (uri === ROOT.uri ? ROOT : issues.has(uri) ? describe(uri) : undefined),
    read: (uri) => issues.get(uri)?.text,
    templates: [
      {
        uriTemplate: `${ROOT.uri}{number}`,
        name: 'issue by number',
        complete: { number: () => [...issues.keys()].map((uri) => uri.slice(ROOT.uri.length)) },
      },
    ],
    watch(tell) {
      changes.on('change', tell);
      return () => void changes.off('change', tell);
    },
  });

  function save(number: number, title: string, text: string): void {
    const uri = `${ROOT.uri}${number}`;
    // A new issue also changes its folder and the default list.
    const changed = issues.has(uri) ? [uri] : [uri, ROOT.uri, undefined];
    issues.set(uri, { title, text });
    for (const changedUri of changed) changes.emit('change', changedUri);
  }

  return { provider, save };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { provider, save } = createTracker();
  save(1, 'The clock in the hall is slow', 'By **four minutes** a day.');
  const { url } = await serveHttp(createVitrine({ mounts: [{ name: 'issues', provider }] }));
  console.log(`Serving at ${url}`);
}
