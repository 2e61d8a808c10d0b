/** How another MCP server is reached, and how it is treated. */
import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import type { ClientFeatures, Log } from '../../core/context.ts';

/** A program that speaks MCP over its standard input and output. */
export interface StdioTarget {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Added to a small safe part of this process's environment, and to nothing else of it. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}

/** A Streamable HTTP endpoint. */
export interface HttpTarget {
  readonly url: string;
  /** Sent with every request to it. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Gets and renews tokens, as the SDK's client has it. */
  readonly auth?: AuthProvider | OAuthClientProvider | undefined;
}

export type UpstreamTarget = StdioTarget | HttpTarget;

export const isStdio = (target: UpstreamTarget): target is StdioTarget => 'command' in target;

export interface UpstreamOptions {
  /** For logs and the status resource; the mount's name. */
  readonly name: string;
  readonly target: UpstreamTarget;
  /** `eager` (default): connects at once, and comes back by itself; `lazy`: connects when it is first wanted. */
  readonly start?: 'eager' | 'lazy' | undefined;
  /**
   * `client` (default): in the 2025 era, a client that can be asked, or that calls tools, gets a connection of its own, so
   * that what the server asks and logs reaches it and nobody else. `shared`: all clients share one, which the server
   * cannot ask. Servers of 2026-07-28 have one connection in any case: there each request says whose it is.
   */
  readonly connections?: 'client' | 'shared' | undefined;
  /**
   * The era that the server is spoken to in. `auto` (default): 2026 where it can; a client of 2025 gets a connection of 2025
   * where the server has both, since most servers ask back and log in the middle of a request in that era alone.
   */
  readonly era?: '2025' | '2026' | 'auto' | undefined;
  /**
   * The only client that there will be, once it is known, as `serveStdio` tells it. A program is started for it then, with
   * what that client can do and in its era, and is its own: no other one is started. Default: there may be many clients.
   */
  readonly sole?: Promise<ClientFeatures> | undefined;
  /** Connections of clients at a time; a client beyond them shares. Default: 32. */
  readonly maxConnections?: number | undefined;
  /** Schemes of its URIs, for a mount without a prefix beside others. Default: any. */
  readonly schemes?: readonly string[] | undefined;
  /** For connecting, in milliseconds. Default: 60,000; 300,000 for a program, which may have to be fetched. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long lists wait for a server that is starting, from its start, in milliseconds. Default: 5,000. */
  readonly startingMs?: number | undefined;
  /** For one answer, in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** For a tool's answer, from its latest report of progress, in milliseconds. Default: 200,000. */
  readonly callTimeoutMs?: number | undefined;
  /** Bytes of one message of the server. An answer that is longer fails. Default: 16 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Entries and fields of one message of the server. An answer with more fails. Default: 200,000. */
  readonly maxMessageValues?: number | undefined;
  /**
   * Messages in a second that no request asked for; ten times as many may come at once. A server that sends more is cut
   * off, and tried again later. Default: 1,000.
   */
  readonly maxMessagesPerSecond?: number | undefined;
  /** Where the definitions of its tools and prompts are kept as they were accepted. Default: they are not fixed. */
  readonly pins?: { readonly file: string } | undefined;
  /**
   * Texts in results of its tools and prompts. `as-is` (default): as they came; `clean`: without terminal escapes, control
   * characters and invisible ones. Errors, names and descriptions are clean in any case.
   */
  readonly texts?: 'as-is' | 'clean' | undefined;
  /**
   * Results that are not what the tool's own `outputSchema` says. `mark` (default): they say so; `refuse`: the call fails;
   * `as-is`: they are not looked at.
   */
  readonly results?: 'mark' | 'refuse' | 'as-is' | undefined;
  readonly log?: Log | undefined;
}
