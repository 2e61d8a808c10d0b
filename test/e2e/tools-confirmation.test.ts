/** Tools read resources that need a human's confirmation: the user is asked in the way of each era, as for any read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallToolResult } from '../../src/protocol/content.ts';
import { embeddedIn, structured, textOf, type WindowAnswer } from '../tools/engine.ts';
import { askable, type Decision } from './asked.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, MATRIX } from './harness.ts';

const PLAN = 'docs+file:///private/plan.md';
const LARGE = 'docs+file:///private/large.md';

const call = (on: Connected, name: string, args: Record<string, unknown>): Promise<CallToolResult> =>
  on.request<CallToolResult & Record<string, unknown>>('tools/call', { name, arguments: args });

describe.concurrent.each(MATRIX)(
  'a read by a tool that needs a confirmation, over $transport, $era',
  ({ transport, era }) => {
    let folder: Folder;
    let args: readonly string[];
    beforeAll(async () => {
      folder = await temporaryFolder({
        'docs/open.md': 'open',
        'docs/private/plan.md': 'the plan\nhas lines',
        'docs/private/large.md': 'é'.repeat(20_000),
      });
      const config = { mounts: { docs: './docs' }, confirm: ['docs+file:///private/*.md'] };
      args = ['--config', await writeConfig(folder, config)];
    });
    afterAll(() => folder[Symbol.asyncDispose]());

    const asking = async (decision: Decision) => {
      const { abilities, questions } = askable({ user: () => decision });
      return { on: await connect(transport, era, args, abilities), questions };
    };

    it('is done whole, embedded, plain, by lines and in windows once the user agrees [CB-6]', async () => {
      const { on: opened, questions } = await asking('accept');
      await using on = opened;
      expect(embeddedIn(await call(on, 'read', { uri: PLAN }))).toMatchObject([{ text: 'the plan\nhas lines' }]);
      expect(embeddedIn(await call(on, 'read_embedded', { uri: PLAN }))).toHaveLength(1);
      expect(textOf(await call(on, 'read', { uri: PLAN, as: 'plain' }))).toBe('the plan\nhas lines');
      expect(embeddedIn(await call(on, 'read', { uri: `${PLAN}#L2` }))).toMatchObject([{ text: 'has lines' }]);
      const window = await call(on, 'read', { uri: LARGE, start_offset: 30_001, max_bytes: 10 });
      expect(structured<WindowAnswer>(window)).toMatchObject({
        window: { start_offset: 30_002 },
        parts: [{ text: 'ééééé' }],
      });
      expect(questions).toEqual([PLAN, PLAN, PLAN, PLAN, LARGE].map((uri) => `May this be read? ${uri}`));
    });

    it('is the only request that asks: reads of other resources, descriptions, and the read of its folder, which leaves it out, ask nothing', async () => {
      const { on: opened, questions } = await asking('accept');
      await using on = opened;
      expect(textOf(await call(on, 'read', { uri: 'docs+file:///open.md', as: 'plain' }))).toBe('open');
      expect(textOf(await call(on, 'describe', { uri: PLAN }))).toContain('text/markdown');
      const directory = await call(on, 'read', { uri: 'docs+file:///private' });
      expect(embeddedIn(directory)).toEqual([]);
      expect(textOf(directory)).toContain(`Not shown:\n${LARGE}`);
      const window = await call(on, 'read', { uri: 'docs+file:///private', as: 'window' });
      expect(structured<WindowAnswer>(window)).toMatchObject({ parts: [], total_parts: 0 });
      expect(questions).toEqual([]);
    });

    it('is not done if the user declines, or cannot be asked [SEC-TOOL-3]', async () => {
      const { on: opened, questions } = await asking('decline');
      await using on = opened;
      const declined = await call(on, 'read', { uri: PLAN });
      expect(declined.isError).toBe(true);
      expect(textOf(declined)).toContain('The user did not let this resource be read');
      expect(questions).toHaveLength(1);
      await using mute = await connect(transport, era, args);
      for (const tool of ['read', 'read_embedded']) {
        const refused = await call(mute, tool, { uri: PLAN });
        expect(refused.isError).toBe(true);
        expect(textOf(refused)).toContain('this client cannot ask one');
        expect(JSON.stringify(refused)).not.toContain('the plan');
      }
    });
  },
);
