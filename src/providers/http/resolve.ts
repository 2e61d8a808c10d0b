/** The type of a function that resolves host names. */

/** Returns all addresses of a host name. */
export type Resolve = (hostname: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;
