/** Connects the guard of one server with the flow of a conversation. */
import { type Block, blocksOf } from './blocks.ts';
import type { GuardOptions } from './decisions.ts';
import type { Flow } from './flow.ts';

export interface ServerFlow {
  /** @throws GuardRefusal */
  check(tool: string, signal: AbortSignal | undefined): Promise<void>;
  /** Remembers content blocks that the server gave. */
  took(content: unknown): void;
}

/** @throws TypeError for a flow of a server without a name */
export function flowOf({ server, flow }: GuardOptions & { readonly flow?: Flow }): ServerFlow | undefined {
  if (flow === undefined) return undefined;
  if (server === undefined) throw new TypeError('A guard with a flow needs the name of its server: pass `server`');
  return {
    check: (tool, signal) => flow.check({ server, tool }, signal),
    took(content) {
      flow.took({ server });
      for (const block of blocksOf(content)) {
        // A server may send anything in the place of a resource.
        const { uri, mimeType } = Object(block.type === 'resource' ? block.resource : block) as Block;
        if (typeof uri === 'string') flow.took({ server, uri, mimeType: textOr(mimeType) });
      }
    },
  };
}

const textOr = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
