/** The version of this package, which clients and servers see. */
export const VERSION = '0.1.0';
