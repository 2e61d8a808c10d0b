/** What the fuzzer found, each by its name. */
import { expect, it } from 'vitest';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { ask } from '../security/incidents/asking.ts';

it('a level of log messages that is none is refused as such, and not as an error inside', async () => {
  const provider = memoryProvider({ resources: { 'a.txt': { text: 'a' } } });
  const vitrine = createVitrine({ mounts: [{ name: 'docs', provider, prefix: 'none' }] });
  const serving = await serveHttp(vitrine, { port: 0 });
  try {
    for (const level of ['loud', '', 1, null, {}]) {
      const { message } = await ask(serving.url, 'legacy', 'logging/setLevel', { level });
      expect(message.error).toMatchObject({ code: -32602, message: expect.stringContaining('one of debug, info') });
    }
    expect((await ask(serving.url, 'legacy', 'logging/setLevel', { level: 'error' })).message.result).toEqual({});
  } finally {
    await serving.close();
    await vitrine.close();
  }
});
