/** The gateway declares no more capabilities than the servers behind it have, as soon as it has reached them. */
import { describe, expect, it } from 'vitest';
import { failure } from '../../e2e/answers.ts';
import { temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { connectHttp, ERAS, MATRIX, startHttp } from '../../e2e/harness.ts';
import { connectToStranger, startStranger, WAYS } from './link.ts';

describe.concurrent.each(MATRIX)('for a client over $transport, $era', (client) => {
  it.each(WAYS)('no resources are declared for a server without any over $transport, $era [SEC-CAP-1]', async (way) => {
    await using on = await connectToStranger(client, 'rooted', way);
    expect(on.client.getServerCapabilities()).toMatchObject({ tools: {}, extensions: {} });
    for (const part of ['resources', 'prompts', 'completions']) {
      expect(on.client.getServerCapabilities()).not.toHaveProperty(part);
    }
    // The client refuses to send requests for undeclared capabilities, so the test removes this check.
    Object.assign(on.client, { assertCapabilityForMethod: () => {} });
    for (const method of ['read', 'metadata', 'list'].map((each) => `resources/${each}`)) {
      const { code } = await failure(on.request(method, { uri: 'stranger+thing:///one' }));
      expect(code, method).toBe(-32_601);
    }
    expect(await on.request('tools/list')).toMatchObject({ tools: [{ name: 'stranger_roots' }] });
  });

  it.each(WAYS)(
    'no subscriptions are declared for a server over $transport, $era that reports no changes [SEC-CAP-1]',
    async (way) => {
      await using on = await connectToStranger(client, 'odd', way);
      // The lists may still change when the configuration is loaded again.
      expect(on.client.getServerCapabilities()?.resources).toEqual({ listChanged: true });
    },
  );
});

describe.each(WAYS)('a server over $transport, $era that starts late', (way) => {
  it('counts as one with resources until the gateway knows that it has none [SEC-CAP-1]', async () => {
    await using folder = await temporaryFolder();
    await using late = await startStranger('rooted', way);
    const mounts = { late: { ...late.mount, start: 'lazy' } };
    await using gateway = await startHttp(['--config', await writeConfig(folder, { tools: 'off', mounts })]);
    await using early = await connectHttp('modern', gateway);
    expect(early.client.getServerCapabilities()).toHaveProperty('resources');
    expect(await early.request('resources/list')).toMatchObject({ resources: [] });
    for (const era of ERAS) {
      await using later = await connectHttp(era, gateway);
      expect(later.client.getServerCapabilities()).not.toHaveProperty('resources');
    }
  });

  it('has its resources declared and listed, beside a server without any [SEC-CAP-1]', async () => {
    await using folder = await temporaryFolder();
    await using tools = await startStranger('rooted', way);
    await using late = await startStranger('sep', way);
    const mounts = { tools: tools.mount, late: { ...late.mount, start: 'lazy' } };
    await using gateway = await startHttp(['--config', await writeConfig(folder, { tools: 'off', mounts })]);
    for (const era of ERAS) {
      await using on = await connectHttp(era, gateway);
      expect(on.client.getServerCapabilities()?.resources).toMatchObject({ subscribe: true });
      expect(await on.request('resources/list')).toMatchObject({ resources: [{ uri: 'late+shelf:///' }, {}] });
    }
  });
});
