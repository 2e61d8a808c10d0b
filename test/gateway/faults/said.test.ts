/** Text of a mounted server: names, errors and log lines are always cleaned, and results as the mount is configured. */
import { describe, expect, it } from 'vitest';
import { temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { type Connected, MATRIX } from '../../e2e/harness.ts';
import { connectToProgram } from '../../e2e/programs.ts';
import { until } from '../../e2e/waiting.ts';
import { notified } from '../fixture/asking.ts';
import { faulty } from './faulty.ts';
import { arrives, othersServe, setScene } from './scene.ts';

type Data = Readonly<Record<string, unknown>>;

const ESCAPE = '\u001b[2J\u001b]0;owned\u0007red\u0008\u202egreen\u{e0041}';
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e\u{e0041}]/u;
const text = (said: string): Data => ({ type: 'text', text: said });

const SCHEMA = {
  type: 'object',
  properties: { n: { type: 'integer', title: ESCAPE, default: ESCAPE } },
  required: ['n'],
};
const TOOL = {
  name: 'say',
  title: ESCAPE,
  description: `${ESCAPE}${'long '.repeat(20_000)}`,
  annotations: { title: ESCAPE },
  inputSchema: SCHEMA,
};

const call = (client: Connected): Promise<Data> => client.request('tools/call', { name: 'faulty_say', arguments: {} });

/** All texts in JSON data except those in `default` of a schema, which are data. */
const textsIn = (value: unknown): string =>
  JSON.stringify(value, (name, each: unknown) => (name === 'default' ? '' : each));

describe.concurrent.each(MATRIX)('a server of the $era era over $transport', (way) => {
  it('has clean names, titles and descriptions of limited length, without any option', async () => {
    await using scene = await setScene(way, {
      subscribed: false,
      before: (server) =>
        server.says(
          {
            'tools/list': { tools: [TOOL] },
            'prompts/list': {
              prompts: [{ name: 'ask', title: ESCAPE, arguments: [{ name: 'a', description: ESCAPE }] }],
            },
            'resources/list': { resources: [{ uri: 'thing:///one', name: ESCAPE, description: ESCAPE }] },
            'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'thing:///{x}', name: ESCAPE }] },
          },
          { prompts: {} },
        ),
    });
    await arrives(scene.up);
    for (const client of scene.clients) {
      for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
        const listed = JSON.parse(textsIn(await client.request(method))) as Data;
        expect(JSON.stringify(listed), method).not.toMatch(/\\u00[01]/);
        expect(JSON.stringify(listed), method).not.toMatch(UNSEEN);
        expect(JSON.stringify(listed), method).toContain('redgreen');
        expect(JSON.stringify(listed).length, method).toBeLessThan(100_000);
      }
      const { tools } = await client.request<{ tools: readonly { inputSchema: Data; name: string }[] }>('tools/list');
      // Data in a schema stays as it is.
      const own = tools.find(({ name }) => name === 'faulty_say');
      expect(own?.inputSchema).toMatchObject({ properties: { n: { default: ESCAPE } } });
    }
  });

  it.each(['as-is', 'clean'] as const)('has texts of its results as its mount says: %s', async (texts) => {
    await using scene = await setScene(way, { subscribed: false, upstream: { texts, results: 'as-is' } });
    await arrives(scene.up);
    const content = [text(ESCAPE), { type: 'resource', resource: { uri: 'thing:///one', text: ESCAPE } }];
    await scene.server.says({ 'tools/call': { content, structuredContent: { said: ESCAPE } } });
    for (const client of scene.clients) {
      const result = await call(client);
      const said = texts === 'clean' ? 'redgreen' : ESCAPE;
      expect(result.structuredContent).toEqual({ said });
      expect(result.content).toMatchObject([{ text: said }, { resource: { text: said } }]);
    }
  });

  it.each(['mark', 'refuse', 'as-is'] as const)('has broken results treated as configured: %s', async (results) => {
    await using scene = await setScene(way, { subscribed: false, upstream: { results } });
    await arrives(scene.up);
    const tool = { name: 'say', inputSchema: { type: 'object' }, outputSchema: SCHEMA };
    const broken = [
      { structuredContent: { n: 'x' } },
      { structuredContent: {} },
      { structuredContent: { n: 1.5 } },
      {},
    ];
    for (const fields of broken) {
      await scene.server.says({ 'tools/list': { tools: [tool] }, 'tools/call': { content: [text('so')], ...fields } });
      for (const client of scene.clients) {
        const result = await call(client);
        const problem = (result._meta as Data | undefined)?.['vitrine/brokenResult'];
        if (results === 'as-is') expect(result.content).toEqual([text('so')]);
        else expect(problem).toEqual(expect.stringMatching(/^n is|structuredContent is missing/));
        if (results === 'refuse')
          expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('is not given') }] });
        if (results === 'refuse') expect(JSON.stringify(result)).not.toContain('"so"');
        if (results === 'mark') {
          expect(result.content).toEqual([
            text(`This result is not what the tool's outputSchema says: ${String(problem)}`),
            text('so'),
          ]);
          expect(result.structuredContent).toEqual((fields as Data).structuredContent);
        }
      }
    }
    // A valid result stays as it came, and so does a failure, to which the schema does not apply.
    for (const fields of [{ structuredContent: { n: 1 } }, { isError: true }]) {
      await scene.server.says({ 'tools/list': { tools: [tool] }, 'tools/call': { content: [text('so')], ...fields } });
      for (const client of scene.clients)
        expect(await call(client)).toMatchObject({ content: [text('so')], ...fields });
    }
  });
});

describe.concurrent.each(['legacy', 'modern'] as const)('a program of the %s era', (era) => {
  it('has clean failures of limited length', async () => {
    // The gateway runs as a program of its own, with the defaults of a configuration.
    await using folder = await temporaryFolder({});
    await using server = await faulty({ transport: 'stdio', era });
    await server.says({ 'tools/call': { content: [text(`${ESCAPE}${'x'.repeat(100_000)}`)], isError: true } });
    const config = await writeConfig(folder, { mounts: { faulty: server.target } });
    await using client = await connectToProgram('stdio', era, ['--config', config]);
    const result = JSON.stringify(await call(client));
    expect(result).toContain('redgreenxxx');
    expect(result).not.toMatch(/\\u00[01]/);
    expect(result).not.toMatch(UNSEEN);
    expect(result.length).toBeLessThan(40_000);
  });

  it('has log lines without secrets, for clients and in the log', async () => {
    await using scene = await setScene(
      { transport: 'stdio', era },
      {
        subscribed: false,
        env: { FAULTY_SECRET: 'given-to-it-7f3a' },
        before: (server) => server.says({ 'logging/setLevel': {} }, { logging: {} }),
      },
    );
    await arrives(scene.up);
    const line = `connecting with password=hunter2 and given-to-it-7f3a ${ESCAPE}`;
    const told = (data: unknown): object => ({
      method: 'notifications/message',
      params: { level: 'error', logger: line, data },
    });
    await scene.server.says(
      { 'logging/setLevel': {} },
      { logging: {} },
      { writes: `${line}\n`, tells: [told(line), told({ password: 'hunter2', line })] },
    );
    for (const client of scene.clients) {
      if (client.era === 'legacy') await client.request('logging/setLevel', { level: 'debug' });
      const _meta = client.era === 'legacy' ? {} : { 'io.modelcontextprotocol/logLevel': 'debug' };
      await client.request('tools/call', { name: 'faulty_say', arguments: {}, _meta });
      await until(() => notified(client, 'notifications/message').length > 0, 'log messages');
      const got = JSON.stringify(notified(client, 'notifications/message'));
      expect(got).toContain('password=***');
      expect(got).not.toMatch(/hunter2|given-to-it/);
      expect(got).not.toMatch(UNSEEN);
      await othersServe(client);
    }
    await until(() => scene.log().includes('password=***'), 'the line in the log');
    expect(scene.log()).not.toMatch(/hunter2|given-to-it/);
  });
});
