/** The option `tools` of a configuration. */
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

  it.each([undefined, 'on', 'all'])('are listed for %s', (tools) =>
    withTools(tools, async (on) => {
      expect(await names(on)).toEqual(expect.arrayContaining(['list', 'read', 'search', 'subscribe']));
    }),
  );

  it.each(['read', { offer: 'read' }])('are only those that read, for %j', (tools) =>
    withTools(tools, async (on) => {
      expect(await names(on)).toEqual(['list', 'list_templates', 'describe', 'read', 'read_embedded', 'search']);
    }),
  );

  it('follow the command line rather than the configuration', async () => {
    await using folder = await temporaryFolder({ 'docs/a.md': 'a' });
    const config = await writeConfig(folder, { mounts: { docs: './docs' }, tools: { prefix: 'docs' } });
    const serve = (which: string) => connect(transport, era, ['--config', config, '--tools', which, '--name', 'here']);
    await using looking = await serve('read');
    expect(await names(looking)).toEqual(expect.arrayContaining(['docs_list', 'docs_search']));
    expect(await names(looking)).not.toContain('docs_subscribe');
    expect(looking.client.getServerVersion()?.name).toBe('here');
    await using none = await serve('off');
    expect(none.client.getServerCapabilities()?.tools).toBeUndefined();
    await using plain = await connect(transport, era, [folder.at('docs'), '--tools', 'all']);
    expect(await names(plain)).toEqual(expect.arrayContaining(['list', 'subscribe']));
  });

  it('are neither listed nor declared if they are off [SEC-CAP-1]', () =>
    withTools('off', async (on) => {
      expect(on.client.getServerCapabilities()?.tools).toBeUndefined();
      expect(await failure(on.request('tools/list'))).toMatchObject({ code: -32_601 });
    }));

  it('have a configured prefix and output budget', () =>
    withTools({ prefix: 'docs', outputBytes: 2_000 }, async (on) => {
      expect((await names(on)).every((name) => name.startsWith('docs_'))).toBe(true);
      const params = { name: 'docs_read', arguments: { uri: 'docs+file:///long.md' } };
      const result = await on.request('tools/call', params);
      expect(JSON.stringify(result)).not.toMatch(/x{2001}/);
      expect(JSON.stringify(result)).toContain('x'.repeat(1_000));
    }));
});
