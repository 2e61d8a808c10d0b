/** How another MCP server is reached, and how it is treated. */
import type { AuthProvider, Implementation, OAuthClientProvider } from '@modelcontextprotocol/client';
import type { ClientFeatures, Log } from '../../core/context.ts';

/** A program that speaks MCP over its standard input and output. */
export interface StdioTarget {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Added to a small safe part of this process's environment; the program gets nothing else of that environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}

/** A Streamable HTTP endpoint. */
export interface HttpTarget {
  readonly url: string;
  /** Sent with every request to it. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Gets and renews tokens: a provider as the SDK's client takes it. */
  readonly auth?: AuthProvider | OAuthClientProvider | undefined;
}

export type UpstreamTarget = StdioTarget | HttpTarget;

export const isStdio = (target: UpstreamTarget): target is StdioTarget => 'command' in target;

export interface UpstreamOptions {
  /** For logs and the status resource; the mount's name. */
  readonly name: string;
  readonly target: UpstreamTarget;
  /** `eager` (default): connects at once, and connects again by itself; `lazy`: connects when somebody first needs the server. */
  readonly start?: 'eager' | 'lazy' | undefined;
  /**
   * `client` (default): in the 2025 era, a client that can be asked, or that calls tools, gets a connection of its own, so
   * that the questions and log messages of the server reach this client and nobody else. `shared`: all clients share one
   * connection, over which the server cannot ask. A server of 2026-07-28 has one connection in any case, since there each
   * request says which client it is for.
   */
  readonly connections?: 'client' | 'shared' | undefined;
  /**
   * The era in which Vitrine speaks to the server. `auto` (default): 2026 where the server can. Where it has both eras, a
   * client of 2025 gets a connection of 2025, since most servers ask back and log during a request only in that era.
   */
  readonly era?: '2025' | '2026' | 'auto' | undefined;
  /**
   * Resolves, once they are known, to the features of the only client that there will be, as with `serveStdio`. Vitrine then
   * starts the program once, for this client, with its features and in its era. Default: there may be many clients.
   */
  readonly sole?: Promise<ClientFeatures> | undefined;
  /** Most clients that have a connection of their own at a time; a further client uses the shared one. Default: 32. */
  readonly maxConnections?: number | undefined;
  /** Schemes of the server's URIs, for a mount without a prefix that is not the only mount. Default: any. */
  readonly schemes?: readonly string[] | undefined;
  /** How long connecting may take, in milliseconds. Default: 60,000; 300,000 for a program, which may have to be fetched. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long lists wait for a server that is starting, counted from its start, in milliseconds. Default: 5,000. */
  readonly startingMs?: number | undefined;
  /** How long one answer may take, in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** How long a tool's answer may take, counted from its latest report of progress, in milliseconds. Default: 200,000. */
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
  /** The file that has the accepted definitions of the server's tools and prompts. Default: they are not fixed. */
  readonly pins?: { readonly file: string } | undefined;
  /**
   * Texts in results of its tools and prompts. `as-is` (default): as they came; `clean`: without terminal escapes, control
   * characters and invisible ones. Errors, names and descriptions are clean in any case.
   */
  readonly texts?: 'as-is' | 'clean' | undefined;
  /**
   * How to treat results that do not fit the tool's own `outputSchema`. `mark` (default): the result says that it does not
   * fit; `refuse`: the call fails; `as-is`: results are not checked.
   */
  readonly results?: 'mark' | 'refuse' | 'as-is' | undefined;
  /**
   * Title, description, website and icons that Vitrine gives to the server as its own, in `clientInfo` (973-5). In
   * 2026-07-28 they go with each request. Default: its name and version alone.
   */
  readonly clientInfo?: ClientIntroduction | undefined;
  readonly log?: Log | undefined;
}

/** How a client introduces itself to a server, beside its name and version. */
export type ClientIntroduction = Omit<Implementation, 'name' | 'version'>;
