/** What comes from a server that is mounted, before anybody has looked into it. */

/** Any JSON object. */
export type Data = Readonly<Record<string, unknown>>;
