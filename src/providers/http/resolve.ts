/** The addresses of a host name. */

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;
