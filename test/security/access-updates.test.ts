/** Access to a changed resource is decided when the change happens, by the attributes that the resource has then (SEC-RES-2, RES-4). */
import type { ChildProcess } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { AccessRule } from '../../src/layers/access/index.ts';
import { type MemoryResource, memoryProvider } from '../../src/providers/memory/index.ts';
import { serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { connectHttp, ERAS } from '../e2e/harness.ts';
import { collectNotices, subscribe } from '../e2e/notices.ts';

const BEFORE: MemoryResource = { text: 'open', mimeType: 'text/plain', annotations: { audience: ['assistant'] } };

/** The resources that change, and rules that deny them after the change. */
const CHANGES: readonly (readonly [string, MemoryResource, Omit<AccessRule, 'effect'>])[] = [
  ['another type', { ...BEFORE, mimeType: 'application/x-key' }, { mimeTypes: ['application/*'] }],
  ['larger', { ...BEFORE, text: 'x'.repeat(1_000) }, { minBytes: 100 }],
  ['for others', { ...BEFORE, annotations: { audience: ['user'] } }, { audience: ['user'] }],
];

describe.each(ERAS)('to a client of the %s era', (era) => {
  describe.each(['deny', 'hide'] as const)('under %s', (effect) => {
    it.each(CHANGES)('no change is reported of a resource that has become %s', async (_what, after, rule) => {
      const provider = memoryProvider({ resources: { 'a.txt': BEFORE, 'b.txt': BEFORE } });
      const vitrine = createVitrine({
        mounts: [{ name: 'docs', provider }],
        access: { rules: [{ effect: 'allow' }, { effect, ...rule }] },
      });
      const http = await serveHttp(vitrine, { port: 0 });
      const at = { url: http.url, process: { pid: process.pid } as ChildProcess, output: () => '' };
      const on = await connectHttp(era, at);
      try {
        const notices = await collectNotices(on);
        const [a, b] = ['docs+memory:///a.txt', 'docs+memory:///b.txt'] as const;
        await subscribe(on, [a, b]);
        provider.set('a.txt', { ...BEFORE, text: 'else' });
        await notices.told(a);
        notices.forget();
        provider.set('a.txt', after);
        // Notices come in order: a notice of the earlier change would come before these.
        for (let turn = 1; turn <= 3; turn++) {
          provider.set('b.txt', { ...BEFORE, text: String(turn) });
          await notices.told(b, turn);
        }
        expect(notices.count(a)).toBe(0);
        provider.set('a.txt', BEFORE);
        await notices.told(a);
      } finally {
        await on.close();
        await http.close();
        await vitrine.close();
      }
    });
  });
});
