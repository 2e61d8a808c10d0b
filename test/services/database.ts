/** A database server of a test's own. */

export interface DatabaseServer extends AsyncDisposable {
  /** The URL of one of its databases, over loopback, for the user who may do everything. */
  url(database?: string): string;
  /** Ends it, with every connection to it. */
  stop(): Promise<void>;
  /** Starts it again where it was, with what it has. */
  start(): Promise<void>;
}
