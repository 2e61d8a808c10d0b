import { describe, expect, it, vi } from 'vitest';
import { type Context, createContext } from '../../core/context.ts';
import type { ToolPage } from '../../core/mounts/mounted-server.ts';
import { createDefinitions, type Definitions } from './definitions.ts';

/** A page of the list of tools that a test gives when it wants. */
interface Wanted {
  readonly cursor: string | undefined;
  readonly ctx: Context;
  give(names: readonly string[], nextCursor?: string): void;
  fail(error: unknown): void;
}

/** A server's list of tools, and the definitions that are learned from it. */
function setup() {
  const wanted: Wanted[] = [];
  const definitions: Definitions = createDefinitions(async ({ cursor }, ctx) => {
    const asked = definitions.forgotten;
    const page = await new Promise<ToolPage>((resolve, fail) => {
      const give = (names: readonly string[], nextCursor?: string): void =>
        resolve({ tools: toolsOf(names), nextCursor });
      ctx.signal.throwIfAborted();
      ctx.signal.addEventListener('abort', () => fail(ctx.signal.reason));
      wanted.push({ cursor, ctx, give, fail });
    });
    definitions.learn(page.tools, asked);
    return page;
  }, 'up');
  return { definitions, wanted };
}

/** Returns tools with a schema of their results that names them. */
const toolsOf = (names: readonly string[]): ToolPage['tools'] =>
  names.map((name) => ({ name, inputSchema: { type: 'object' }, outputSchema: { type: 'object', title: name } }));

const factsOf = (name: string) => expect.objectContaining({ outputSchema: { type: 'object', title: name } });

const turn = (): Promise<void> => new Promise(setImmediate);

it('the list of tools is read once for all, until the tools change', async () => {
  const { definitions, wanted } = setup();
  const all = ['a', 'b', 'c'].map((name) => definitions.of(name, createContext()));
  wanted[0]?.give(['a'], '1');
  await turn();
  expect(wanted[1]?.cursor).toBe('1');
  wanted[1]?.give(['b']);
  expect(await Promise.all(all)).toEqual([factsOf('a'), factsOf('b'), undefined]);
  expect(await definitions.of('c', createContext())).toBeUndefined();
  expect(wanted).toHaveLength(2);
  definitions.forget();
  const later = definitions.of('c', createContext());
  wanted[2]?.give(['c']);
  expect(await later).toEqual(factsOf('c'));
});

it('the list is not read on for a caller who has left', async () => {
  const { definitions, wanted } = setup();
  const leaving = new AbortController();
  const gone = definitions.of('a', createContext({ signal: leaving.signal }));
  leaving.abort(new Error('gone'));
  await expect(gone).rejects.toThrow('gone');
  expect(wanted[0]?.ctx.signal.aborted).toBe(true);
  wanted[0]?.give(['b'], '1');
  await turn();
  expect(wanted).toHaveLength(1);
  const next = definitions.of('a', createContext());
  wanted[1]?.give(['a']);
  expect(await next).toEqual(factsOf('a'));
});

it('the list is read on as long as one caller waits', async () => {
  const { definitions, wanted } = setup();
  const [first, second] = [new AbortController(), new AbortController()];
  const gone = definitions.of('a', createContext({ signal: first.signal }));
  const stays = definitions.of('b', createContext({ signal: second.signal }));
  first.abort(new Error('gone'));
  await expect(gone).rejects.toThrow('gone');
  wanted[0]?.give(['a'], '1');
  await turn();
  wanted[1]?.give(['b']);
  expect(await stays).toEqual(factsOf('b'));
});

it('a list that cannot be read is read again for the next caller', async () => {
  const { definitions, wanted } = setup();
  const failed = definitions.of('a', createContext());
  wanted[0]?.fail(new Error('broke'));
  await expect(failed).rejects.toThrow('broke');
  const next = definitions.of('a', createContext());
  wanted[1]?.give(['a']);
  expect(await next).toEqual(factsOf('a'));
});

it('a list that comes too late for a result is read to its end for the next one, unless the caller leaves before', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { definitions, wanted } = setup();
    const asking = new AbortController();
    const late = definitions.soon('a', createContext({ signal: asking.signal }));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await late).toBeUndefined();
    // The answer was sent, and its stream has ended.
    asking.abort();
    wanted[0]?.give(['a']);
    await turn();
    expect(await definitions.soon('a', createContext())).toEqual(factsOf('a'));
    expect(wanted).toHaveLength(1);

    definitions.forget();
    const leaving = new AbortController();
    const gone = definitions.soon('a', createContext({ signal: leaving.signal }));
    leaving.abort(new Error('gone'));
    expect(await gone).toBeUndefined();
    expect(wanted[1]?.ctx.signal.aborted).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

describe('a page that was requested before a change', () => {
  it('is not kept', async () => {
    const { definitions, wanted } = setup();
    const { forgotten } = definitions;
    definitions.forget();
    definitions.learn(toolsOf(['a']), forgotten);
    const fresh = definitions.of('a', createContext());
    wanted[0]?.give([]);
    expect(await fresh).toBeUndefined();
    definitions.learn(toolsOf(['a']), definitions.forgotten);
    expect(await definitions.of('a', createContext())).toEqual(factsOf('a'));
  });

  it('answers those who asked before it, and later callers get a page from after it', async () => {
    const { definitions, wanted } = setup();
    const before = definitions.of('a', createContext());
    definitions.forget();
    const after = definitions.of('a', createContext());
    wanted[0]?.give(['a']);
    expect(await before).toEqual(factsOf('a'));
    wanted[1]?.give([]);
    expect(await after).toBeUndefined();
    // The whole list has been read since the change.
    expect(await definitions.of('a', createContext())).toBeUndefined();
    expect(wanted).toHaveLength(2);
  });

  it('counts among the pages of its scan, and the later ones are kept', async () => {
    const { definitions, wanted } = setup();
    const all = ['a', 'b', 'c'].map((name) => definitions.of(name, createContext()));
    wanted[0]?.give(['a'], '1');
    await turn();
    definitions.forget();
    wanted[1]?.give(['b'], '2');
    await turn();
    wanted[2]?.give(['c']);
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c'].map(factsOf));
    expect(await definitions.of('c', createContext())).toEqual(factsOf('c'));
    const again = definitions.of('b', createContext());
    wanted[3]?.give([]);
    expect(await again).toBeUndefined();
  });
});
