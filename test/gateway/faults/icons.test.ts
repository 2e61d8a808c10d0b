/** Icons of a mounted server reach clients, except those with addresses that run or open something. */
import { describe, expect, it } from 'vitest';
import { DIAGONAL } from '../../e2e/harness.ts';
import { arrives, setScene } from './scene.ts';

const GOOD = [
  { src: 'https://x.example/i.png', sizes: ['48x48'] },
  { src: 'http://127.0.0.1:1/i.png' },
  { src: 'data:image/png;base64,AA==', mimeType: 'image/png' },
];
const BAD = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  'vbscript:x',
  'data:text/html,<script>alert(1)</script>',
  'file:///etc/passwd',
  'ftp://x.example/i.png',
  'https://user:secret@x.example/i.png',
].map((src) => ({ src }));
const [first, ...others] = GOOD;
const icons = [...BAD, first, ...BAD, ...others];

const SAYS = {
  'resources/list': { resources: [{ uri: 'thing:///one', name: 'one', icons }] },
  'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'thing:///{x}', name: 'x', icons }] },
  'tools/list': { tools: [{ name: 'one', inputSchema: { type: 'object' }, icons }] },
  'prompts/list': {
    prompts: [
      { name: 'one', icons },
      { name: 'bad', icons: BAD },
    ],
  },
  'tools/call': { content: [{ type: 'resource_link', uri: 'thing:///one', name: 'one', icons }] },
};

describe.concurrent.each(DIAGONAL)('a server of the $era era over $transport', (way) => {
  it('has its icons passed on, except those with other schemes [973-4]', async () => {
    await using scene = await setScene(way, {
      subscribed: false,
      before: (server) => server.says(SAYS, { prompts: {} }),
    });
    await arrives(scene.up);
    for (const client of scene.clients) {
      for (const method of ['resources/list', 'resources/templates/list', 'tools/list', 'prompts/list']) {
        const answer = JSON.stringify(await client.request(method, {}));
        for (const { src } of BAD) expect(answer).not.toContain(JSON.stringify(src));
        expect(answer).toContain(JSON.stringify(GOOD));
      }
      const called = await client.request<{ content: unknown }>('tools/call', { name: 'faulty_one', arguments: {} });
      expect(called.content).toMatchObject([{ type: 'resource_link', icons: GOOD }]);
    }
  });
});
