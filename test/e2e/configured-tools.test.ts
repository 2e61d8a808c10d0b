/** The key `tools` of a configuration. */
import { describe, expect, it } from 'vitest';
import { failure } from './answers.ts';
import { temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, DIAGONAL } from './harness.ts';

const names = async (on: Connected): Promise<string[]> =>
  (await on.request<{ tools: { name: string }[] }>('tools/list')).tools.map(({ name }) => name);

describe.each(DIAGONAL)('the tools of a configuration over $transport, $era', ({ transport, era }) => {
  const withTools = async (tools: unknown, use: (on: Connected) => Promise<void>): Promise<void> => {
    await using folder = await temporaryFolder({ 'docs/long.md': 'x'.repeat(5_000) });
    const config = { mounts: { docs: './docs' }, ...(tools !== undefined && { tools }) };
    await using on = await connect(transport, era, ['--config', await writeConfig(folder, config)]);
    await use(on);
  };

  it.each([undefined, 'on'])('are there for %s', (tools) =>
    withTools(tools, async (on) => {
      expect(await names(on)).toEqual(expect.arrayContaining(['list', 'read', 'search', 'summarize']));
    }),
  );

  it('are not there, and not declared, when they are off [SEC-CAP-1]', () =>
    withTools('off', async (on) => {
      expect(on.client.getServerCapabilities()?.tools).toBeUndefined();
      expect(await failure(on.request('tools/list'))).toMatchObject({ code: -32_601 });
    }));

  it('have a prefix and an output budget of their own', () =>
    withTools({ prefix: 'docs', outputBytes: 2_000 }, async (on) => {
      expect((await names(on)).every((name) => name.startsWith('docs_'))).toBe(true);
      const params = { name: 'docs_read', arguments: { uri: 'docs+file:///long.md' } };
      const result = await on.request('tools/call', params);
      expect(JSON.stringify(result)).not.toMatch(/x{2001}/);
      expect(JSON.stringify(result)).toContain('x'.repeat(1_000));
    }));
});
