/** Options of an upstream: how Vitrine reaches it, and how Vitrine treats its answers. */
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
  /** Headers of every request to the endpoint. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Gets and renews tokens: any auth provider of the SDK's client. */
  readonly auth?: AuthProvider | OAuthClientProvider | undefined;
}

export type UpstreamTarget = StdioTarget | HttpTarget;

export const isStdio = (target: UpstreamTarget): target is StdioTarget => 'command' in target;

export interface UpstreamOptions {
  /** For logs and the status resource; the mount's name. */
  readonly name: string;
  readonly target: UpstreamTarget;
  /** `eager` (default): connects at once and reconnects by itself; `lazy`: connects when a request first needs the server. */
  readonly start?: 'eager' | 'lazy' | undefined;
  /**
   * `client` (default): in the 2025 era, each client that can answer questions or calls tools gets its own connection, so that
   * the server's questions and log messages reach only this client. `shared`: all clients share one connection, over which the
   * server cannot ask. In 2026-07-28 all clients share one connection in any case, since each request names its client.
   */
  readonly connections?: 'client' | 'shared' | undefined;
  /**
   * The era in which Vitrine speaks to the server. `auto` (default): 2026 where the server supports it. Where the
   * server supports both eras, a client of 2025 gets a connection of 2025, since most servers ask questions and send
   * log messages only in that era.
   */
  readonly era?: '2025' | '2026' | 'auto' | undefined;
  /**
   * Resolves to the features of the only client, as with `serveStdio`, once they are known. Vitrine then starts the
   * program once, with the features and in the era of this client. Default: there may be many clients.
   */
  readonly sole?: Promise<ClientFeatures> | undefined;
  /** The most clients with their own connections at a time. Others use the shared one, or get an error. Default: 32. */
  readonly maxConnections?: number | undefined;
  /** Schemes of the server's URIs, for a mount without a prefix that is not the only mount. Default: any. */
  readonly schemes?: readonly string[] | undefined;
  /** How long connecting may take, in milliseconds. Default: 60,000; 300,000 for a program, which npx may have to download. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long lists wait for a server that is starting, counted from its start, in milliseconds. Default: 5,000. */
  readonly startingMs?: number | undefined;
  /** How long one response may take, in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** How long a tool call may take after its latest progress report, in milliseconds. Default: 300,000. */
  readonly callTimeoutMs?: number | undefined;
  /** The most bytes of one message from the server. A longer answer fails. Default: 16 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** The most entries and fields in one message from the server. An answer with more fails. Default: 200,000. */
  readonly maxMessageValues?: number | undefined;
  /**
   * The most unrequested messages per second; ten times as many may come at once. Vitrine disconnects from a server
   * that sends more, and tries again later. Default: 1,000.
   */
  readonly maxMessagesPerSecond?: number | undefined;
  /** The file with the accepted definitions of the server's tools and prompts. Default: any definition is accepted. */
  readonly pins?: { readonly file: string } | undefined;
  /**
   * Texts in results of its tools and prompts. `as-is` (default): unchanged; `clean`: without terminal escapes, control
   * characters and invisible characters. Errors, names and descriptions are always cleaned.
   */
  readonly texts?: 'as-is' | 'clean' | undefined;
  /**
   * How results are treated that do not match the tool's own `outputSchema`. `mark` (default): the result says that it
   * does not match; `refuse`: the call fails; `as-is`: results are not checked.
   */
  readonly results?: 'mark' | 'refuse' | 'as-is' | undefined;
  /**
   * Title, description, website and icons with which Vitrine introduces itself to the server, in `clientInfo` (973-5).
   * In 2026-07-28 every request carries them. Default: name and version only.
   */
  readonly clientInfo?: ClientIntroduction | undefined;
  readonly log?: Log | undefined;
}

/** The parts of a client's introduction to a server besides its name and version. */
export type ClientIntroduction = Omit<Implementation, 'name' | 'version'>;
