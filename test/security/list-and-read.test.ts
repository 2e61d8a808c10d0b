/** Rules under which a caller may list a resource but not read it, or read it but not list it, and what each caller sees. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, read, refusedAs } from '../e2e/answers.ts';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { type Connected, connect, MATRIX } from '../e2e/harness.ts';

const FILES = {
  'docs/open.txt': 'amber jet',
  'docs/shelf/listed.txt': 'amber pearl',
  'docs/shelf/unlisted.txt': 'amber coral',
  'docs/box/inside.txt': 'amber opal',
};

const at = (path: string): string => `docs+file:///${path}`;

/** The effects of rules, each of which is about one operation only, and the reasons in the errors of that operation. */
const EFFECTS = [
  { effect: 'deny', reason: 'denied' },
  { effect: 'hide', reason: 'not-found' },
] as const;

describe.each(MATRIX)('over $transport, $era', ({ transport, era }) => {
  describe.each(EFFECTS)('under $effect', ({ effect, reason }) => {
    let folder: Folder;
    let on: Connected;
    beforeAll(async () => {
      folder = await temporaryFolder(FILES);
      const rules = [
        { effect, operations: ['read'], uris: [at('shelf/listed.txt')] },
        { effect, operations: ['list'], uris: [at('shelf/unlisted.txt'), at('box')] },
      ];
      const config = await writeConfig(folder, { mounts: { docs: './docs' }, access: { rules, default: 'allow' } });
      on = await connect(transport, era, [config]);
    });
    afterAll(async () => {
      await on?.close();
      await folder?.[Symbol.asyncDispose]();
    });

    const listed = async (params: Record<string, unknown> = {}): Promise<readonly string[]> => {
      const { resources } = await on.request<{ resources: readonly { uri: string }[] }>('resources/list', params);
      return resources.map(({ uri }) => uri);
    };
    const call = async (name: string, args: Record<string, unknown>): Promise<string> =>
      JSON.stringify(await on.request('tools/call', { name, arguments: args }));

    it('a resource that may only be listed is in lists and metadata, and its content is nowhere [SEC-RES-8]', async () => {
      const uri = at('shelf/listed.txt');
      expect(await listed()).toContain(uri);
      expect(await listed({ uri: at('shelf') })).toEqual([uri]);
      expect(await on.request('resources/metadata', { uri })).toMatchObject({ resource: { uri, size: 11 } });
      expect(await failure(read(on, uri))).toMatchObject(refusedAs(era, uri, reason));
      expect((await read(on, at('shelf'))).map((item) => item.uri)).toEqual([at('shelf/unlisted.txt')]);
      const answers = [call('read', { uri }).catch(String), call('search', { pattern: 'amber', uri: at('') })];
      for (const answer of await Promise.all(answers)) expect(answer).not.toContain('pearl');
    });

    it('a resource that may only be read is in no list, and can be read by its URI [SEC-RES-8]', async () => {
      const uri = at('shelf/unlisted.txt');
      expect(await listed()).not.toContain(uri);
      expect(await read(on, uri)).toMatchObject([{ uri, text: 'amber coral' }]);
      expect(await on.request('resources/metadata', { uri })).toMatchObject({ resource: { uri, size: 11 } });
      expect(await call('list', { uri: at('shelf') })).not.toContain('unlisted');
      expect(await call('search', { pattern: 'amber', uri: at('') })).toContain('coral');
    });

    it('a container that may only be read lists no children, and its capabilities say so [SEC-RES-8]', async () => {
      const { resource } = await on.request<{ resource: object }>('resources/metadata', { uri: at('box') });
      expect(resource).toMatchObject({ capabilities: { list: false } });
      expect(await listed({ uri: at('') })).toEqual([at('shelf'), at('open.txt')]);
      expect(await failure(listed({ uri: at('box') }))).toMatchObject(refusedAs(era, at('box'), reason));
      expect((await read(on, at(''))).map(({ uri }) => uri)).toContain(at('box'));
      expect(await read(on, at('box'))).toMatchObject([{ uri: at('box/inside.txt'), text: 'amber opal' }]);
    });
  });
});
