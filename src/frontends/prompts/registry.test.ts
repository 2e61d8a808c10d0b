import { describe, expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { definePrompt, type PromptSource } from '../../core/prompt.ts';
import { createPromptRegistry } from './registry.ts';

const prompt = (name: string) => definePrompt({ name, get: () => ({ messages: [] }) });

const handle = (end: () => void): AsyncDisposable => ({ [Symbol.asyncDispose]: async () => end() });

describe('a registry of prompts', () => {
  it('joins fixed prompts and sources; the first of a name counts', async () => {
    const source: PromptSource = { list: async () => [prompt('b'), prompt('a')] };
    const registry = createPromptRegistry([prompt('a'), source]);
    expect(await registry.ownNames(createContext())).toEqual(['a', 'b']);
    expect(registry.some).toBe(true);
    expect(registry.watchable).toBe(false);
  });

  it('watches all sources that can be watched, and ends all watches', async () => {
    const ended: string[] = [];
    const watchable = (name: string): PromptSource => ({
      list: async () => [],
      watch: async () => handle(() => ended.push(name)),
    });
    const failing: PromptSource = {
      list: async () => [],
      watch: async () => {
        throw new Error('cannot');
      },
    };
    const registry = createPromptRegistry([prompt('x'), watchable('one'), failing, watchable('two')]);
    expect(registry.watchable).toBe(true);
    const watching = await registry.watch(() => {}, createContext());
    await watching[Symbol.asyncDispose]();
    expect(ended).toEqual(['one', 'two']);
    await expect(createPromptRegistry([failing]).watch(() => {}, createContext())).rejects.toThrow('cannot');
  });

  it('closes every source, even if one fails', async () => {
    const closed: string[] = [];
    const closing = (name: string, fails: boolean): PromptSource => ({
      list: async () => [],
      async close() {
        closed.push(name);
        if (fails) throw new Error('cannot');
      },
    });
    await createPromptRegistry([closing('one', true), prompt('x'), closing('two', false)]).close();
    expect(closed).toEqual(['one', 'two']);
  });
});
