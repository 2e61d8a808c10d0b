/** A program of 2025 keeps its state in its process. Each client finds the state that it made, and is notified of changes. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { MATRIX } from '../e2e/harness.ts';
import { callTool, tellsOf } from './fixture/asking.ts';
import { answering } from './fixture/client.ts';
import { connectThrough } from './fixture/link.ts';
import type { FixtureMount } from './fixture/mounts.ts';

const PROGRAM = { transport: 'stdio', era: 'legacy' } as const;
const COUNTER = 'fixture:///counter';

const MOUNT: FixtureMount = { ...PROGRAM, name: 'fixture', uri: (native) => native, named: (native) => native };

const contents = z.looseObject({ contents: z.array(z.looseObject({ text: z.string() })) });

describe.concurrent.each(MATRIX)('over $transport, $era', ({ transport, era }) => {
  it.each(['a client that can be asked', 'a client that cannot be asked'])(
    '%s is notified of the changes that it made itself, and reads them [RES-4]',
    async (kind) => {
      const abilities = kind === 'a client that cannot be asked' ? undefined : answering().abilities;
      await using on = await connectThrough(
        { transport, era },
        PROGRAM,
        { prefix: 'none', forgetful: true },
        abilities,
      );
      await on.reachable;
      const read = async (): Promise<string> =>
        contents.parse(await on.request('resources/read', { uri: COUNTER })).contents[0]?.text ?? '';
      const before = await read();
      const stream = era === 'modern' ? await on.client.listen({ resourceSubscriptions: [COUNTER] }) : undefined;
      if (stream === undefined) await on.client.subscribeResource({ uri: COUNTER });
      await tellsOf(on, COUNTER, () => callTool(on, MOUNT, 'touch', { uri: COUNTER }));
      const after = await read();
      expect(after).not.toBe(before);
      await tellsOf(on, COUNTER, () => callTool(on, MOUNT, 'touch', { uri: COUNTER }));
      expect(await read()).not.toBe(after);
      await stream?.close();
    },
  );
});
