/** The schema of `bus` in a `vitrine.yaml`: the bus over which replicas notify each other of changes. */
import { z } from 'zod';
import { busProblem } from '../core/bus-address.ts';

/** The most addresses of sentinels, or of nodes of a cluster. */
const MAX_ADDRESSES = 100;

const address = z.string().superRefine((url, context) => {
  const message = busProblem({ url });
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

const addresses = z.array(z.string()).min(1, 'names no server').max(MAX_ADDRESSES);

const ca = z
  .string()
  .min(1)
  .optional()
  .describe('A file with the authorities that may sign its certificate. Default: those of Node.js');

const isTls = (urls: readonly string[]): boolean => urls.some((url) => url.startsWith('rediss:'));

const noTls = { path: ['ca'], message: 'is for an address with rediss:, over TLS' };

const sentinels = addresses
  .superRefine((urls, context) => {
    const message = busProblem({ sentinels: urls, master: '' });
    if (urls.length > 0 && message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .describe('Each sentinel, as in redis://:password@host:26379');

const cluster = addresses
  .superRefine((urls, context) => {
    const message = busProblem({ cluster: urls });
    if (urls.length > 0 && message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .describe('Some nodes of a cluster, as in rediss://user:password@host:6379, all with the same user and password');

export const busConfig = z.union([
  address,
  z
    .strictObject({ url: address.describe('Redis or Valkey, as in rediss://user:password@host:6379/0'), ca })
    .refine(({ url, ca: file }) => file === undefined || isTls([url]), noTls),
  z
    .strictObject({
      sentinels,
      master: z.string().min(1).describe('The name by which the sentinels know the master'),
      user: z.string().min(1).optional().describe('The user at the master and its successors. Default: default'),
      password: z
        .string()
        .min(1)
        .optional()
        .describe('The password of this user; may refer to the environment. Default: none'),
      database: z.number().int().nonnegative().optional().describe('The number of a database. Default: 0'),
      tls: z.boolean().optional().describe('Whether to reach the master over TLS. Default: as the sentinels'),
      ca,
    })
    .refine(({ sentinels: urls, tls, ca: file }) => file === undefined || tls === true || isTls(urls), noTls),
  z.strictObject({ cluster, ca }).refine(({ cluster: urls, ca: file }) => file === undefined || isTls(urls), noTls),
]);
