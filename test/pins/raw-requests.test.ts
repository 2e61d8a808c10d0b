/**
 * Raw requests, odd and well-formed, and their answers, byte for byte: over HTTP, `fetch` and stdio, in both eras. The records are in
 * `raw-requests/records`. A changed answer fails; `npx vitest run test/pins/raw-requests.test.ts -u` writes it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpOptions } from '../../src/index.ts';
import { type HttpCase, recordHttp } from './raw-requests/http-cases.ts';
import { type MessageCase, recordMessages, sealedBy } from './raw-requests/messages.ts';
import { type Scene, STRANGERS, startScene } from './raw-requests/scene.ts';
import { recordStdio, type StdioCase } from './raw-requests/stdio-cases.ts';
import { BATCHES } from './raw-requests/tables/batches.ts';
import { QUESTIONS, REPORTS, RESULT_SHAPES, ROUNDS, sealedElsewhere } from './raw-requests/tables/calls.ts';
import { ENVELOPE } from './raw-requests/tables/envelope.ts';
import { ALLOWED, FORMS, HOSTS, HTTP_METHODS, NAMES, PAGES, REVISIONS } from './raw-requests/tables/http.ts';
import { LISTENING, METHODS, PARAMETERS } from './raw-requests/tables/methods.ts';
import { HANDSHAKES, RESUMED, SESSIONS } from './raw-requests/tables/sessions.ts';
import { SHAPES, TEXTS } from './raw-requests/tables/shapes.ts';
import { BEGINNINGS, CONVERSATIONS, DECIDED, FIRST, LINES } from './raw-requests/tables/stdio.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

const recorded = (name: string): string => `./raw-requests/records/${name}.txt`;

describe('each is answered as recorded', () => {
  it.each<[string, readonly MessageCase[]]>([
    ['shapes', SHAPES],
    ['texts', TEXTS],
    ['batches', BATCHES],
    ['envelope', ENVELOPE],
    ['methods', METHODS],
    ['parameters', PARAMETERS],
    ['listening', LISTENING],
    ['results', RESULT_SHAPES],
    ['questions', QUESTIONS],
    ['rounds', ROUNDS],
    ['reports', REPORTS],
  ])('messages: %s', async (name, table) => {
    await expect(await recordMessages(scene, table)).toMatchFileSnapshot(recorded(name));
  });

  it('messages: states and cursors that another server sealed', async () => {
    const table: MessageCase[] = [];
    for (const [who, cursors] of Object.entries(STRANGERS)) {
      await using other = await startScene({}, cursors);
      table.push(...sealedElsewhere(who, await sealedBy(other)));
    }
    await expect(await recordMessages(scene, table)).toMatchFileSnapshot(recorded('sealed-elsewhere'));
  });

  it.each<[string, readonly HttpCase[]]>([
    ['http-methods', HTTP_METHODS],
    ['http-forms', FORMS],
    ['http-hosts', HOSTS],
    ['http-revisions', REVISIONS],
    ['http-names', NAMES],
  ])('HTTP: %s', async (name, table) => {
    await expect(await recordHttp(scene, table)).toMatchFileSnapshot(recorded(name));
  });

  it.each<[string, readonly HttpCase[], HttpOptions]>([
    ['handshakes', HANDSHAKES, {}],
    ['sessions', SESSIONS, {}],
    ['resumed', RESUMED, { resume: { retryMs: 1 } }],
  ])('HTTP: %s', async (name, table, options) => {
    await using own = await startScene(options);
    await expect(await recordHttp(own, table)).toMatchFileSnapshot(recorded(name));
  });

  it.each<[string, readonly StdioCase[]]>([
    ['stdio-beginnings', BEGINNINGS],
    ['stdio-conversations', CONVERSATIONS],
    ['stdio-first', FIRST],
    ['stdio-decided', DECIDED],
    ['stdio-lines', LINES],
  ])('stdio: %s', async (name, table) => {
    await using own = await startScene();
    await expect(await recordStdio(own, table)).toMatchFileSnapshot(recorded(name));
  });

  it('HTTP: pages of an origin that is allowed', async () => {
    await using open = await startScene({ allowedOrigins: ALLOWED.origins, allowedHosts: ALLOWED.hosts });
    await expect(await recordHttp(open, PAGES)).toMatchFileSnapshot(recorded('http-pages'));
  });
});
