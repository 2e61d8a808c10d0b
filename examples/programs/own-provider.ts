/** A provider of your own data: its list, its contents, and its changes. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createVitrine, defineProvider, type TellChange } from 'vitrine';

const poems = new Map([['poem:rain', 'Rain again']]);
const listeners = new Set<TellChange>();

const provider = defineProvider({
  scheme: 'poem',
  list: () => [...poems.keys()].map((uri) => ({ uri, mimeType: 'text/plain' })),
  read: (uri) => poems.get(uri),
  watch(tell) {
    listeners.add(tell);
    return () => listeners.delete(tell);
  },
});

// Pass it to serveStdio or serveHttp. A program can also call it directly.
const vitrine = createVitrine({ mounts: { poems: provider } });
const events = new EventEmitter();
const watching = await vitrine.watch('poems+poem:rain', () => events.emit('change'));
const changed = once(events, 'change');

poems.set('poem:rain', 'No rain today');
for (const tell of listeners) tell('poem:rain');
await changed;
await watching[Symbol.asyncDispose]();

const [poem] = await vitrine.read('poems+poem:rain');
assert.ok(poem !== undefined && 'text' in poem);
assert.equal(poem.text, 'No rain today');
await vitrine.close();
