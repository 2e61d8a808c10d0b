/** Leaving a folder through a link, or to a neighbour whose name begins alike. */
import { symlink } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesProvider } from '../../../src/providers/files/index.ts';
import { type HttpServing, serveHttp } from '../../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../../src/vitrine.ts';
import { ERAS, type Era } from '../../e2e/harness.ts';
import { makeScene, type Scene } from '../scene.ts';
import { ask, call } from './asking.ts';

let scene: Scene;
let vitrine: Vitrine;
let serving: HttpServing;

beforeAll(async () => {
  scene = await makeScene();
  // The link of the incident: it lies inside and leads outside. And a folder outside whose name begins alike.
  await symlink(scene.parent.at('root-secret'), scene.parent.at('root', 'guide', 'docs'));
  const provider = await filesProvider({ path: scene.root });
  vitrine = createVitrine({ mounts: [{ name: 'files', provider, prefix: 'none' }] });
  serving = await serveHttp(vitrine, { port: 0 });
});

afterAll(async () => {
  await serving?.close();
  await vitrine?.close();
  await scene?.[Symbol.asyncDispose]();
});

const METHODS = ['resources/read', 'resources/metadata', 'resources/list', 'resources/directory/read'] as const;

/** Checks that every operation refuses it in the words for a missing resource. */
async function isNotThere(era: Era, uri: string): Promise<void> {
  for (const method of METHODS) {
    const { message, text } = await ask(serving.url, era, method, { uri });
    const { error } = message as { readonly error?: { readonly code: number; readonly data?: { reason?: string } } };
    const missing = era === 'legacy' && error?.data?.reason === 'not-found';
    expect(error?.code, `${method} ${uri}: ${text}`).toBe(missing ? -32002 : -32602);
    expect(scene.leaks(text, uri), `${method} ${uri}`).toEqual([]);
  }
  for (const tool of ['read', 'list', 'describe', 'subscribe']) {
    const { refused, text } = await call(serving.url, era, tool, { uri });
    expect(refused, `${tool} ${uri}: ${text}`).toBe(true);
    expect(scene.leaks(text, uri), `${tool} ${uri}`).toEqual([]);
  }
}

describe.each(ERAS)('in the %s era', (era) => {
  it('shows the contents of the folder, so that a refusal means something', async () => {
    const { message } = await ask(serving.url, era, 'resources/read', { uri: 'file:///in' });
    expect(message.result).toMatchObject({ contents: [{ text: 'content of a.txt' }] });
  });

  // The filesystem server checked the name of a link, and opened its target.
  it.each([
    'out',
    'out-absolute',
    'out-twice',
    'out-folder/secret.txt',
    'out-root/etc/passwd',
    'guide/docs/secret.txt',
  ])('CVE-2025-53109: a link in the folder leads out of it: %s [SEC-RES-1]', (path) =>
    isNotThere(era, `file:///${path}`),
  );

  // The filesystem server took `/root-secret` for a path in `/root`, because the text begins alike.
  it.each([
    '../root-secret/secret.txt',
    '%2e%2e/root-secret/secret.txt',
    '../root-secret',
    'PARENT/root-secret/secret.txt',
    'PARENT/root/../root-secret/a.txt',
  ])('CVE-2025-53110: the name of a neighbour begins with the name of the folder: %s [SEC-RES-1]', (path) =>
    isNotThere(era, `file:///${path.replace('PARENT', scene.parent.path.slice(1))}`),
  );
});
