/** The version of this package, as it introduces itself to clients and to servers. */
export const VERSION = '0.1.0';
