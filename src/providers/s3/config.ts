/** The options of a bucket; each is documented in `docs/providers/s3.md`. */
import { z } from 'zod';

const text = z.string().min(1);

export const s3Config = z.strictObject({
  /** The bucket, and the folder in it that is the root. */
  s3: text.describe('The bucket, as s3://bucket, or s3://bucket/folder'),
  endpoint: z
    .url()
    .optional()
    .describe('A store other than AWS. Default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or AWS'),
  region: text.optional().describe('Default: AWS_REGION, AWS_DEFAULT_REGION, the profile; us-east-1 with an endpoint'),
  pathStyle: z
    .boolean()
    .optional()
    .describe('Whether requests have the bucket in the path instead of the host. Default: true with an endpoint'),
  anonymous: z.boolean().optional().describe('Sends requests without credentials, for public buckets. Default: false'),
  profile: text.optional().describe('The profile in the shared AWS files. Default: AWS_PROFILE, or default'),
  accessKeyId: text.optional().describe('Default: found as by other AWS programs, for example in the environment'),
  secretAccessKey: text.optional().describe('Belongs to accessKeyId; give it as a reference to the environment'),
  sessionToken: text.optional().describe('Belongs to temporary credentials'),
  watchSeconds: z
    .number()
    .min(0.02)
    .max(86_400)
    .optional()
    .describe('Seconds between checks of watched resources. Default: 30'),
  maxWatchedKeys: z
    .number()
    .int()
    .min(1)
    .max(10_000_000)
    .optional()
    .describe('The most keys that are listed to watch a folder or the default list. Default: 10000'),
  timeoutSeconds: z
    .number()
    .positive()
    .max(3_600)
    .optional()
    .describe('Seconds without a byte until a request is given up. Default: 20'),
  attempts: z
    .number()
    .int()
    .min(1)
    .max(10)
    .optional()
    .describe('The most attempts for one request that fails for a temporary reason. Default: 3'),
});

export type S3Config = z.infer<typeof s3Config>;

export interface S3Options extends Omit<S3Config, 's3'> {
  /** `s3://bucket`, or `s3://bucket/folder`. */
  readonly s3: string;
  /** The name of the root. Default: the name of the folder or, without a folder, of the bucket. */
  readonly name?: string;
  /** The environment that has the `AWS_*` variables. Default: the process's own. Credentials are found by the AWS SDK. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Seconds between checks of watched resources. */
export const WATCH_SECONDS = 30;

/** The most keys that are listed to watch a folder, or the default list. */
export const MAX_WATCHED_KEYS = 10_000;

/** Seconds without a byte after which a request is given up. */
export const TIMEOUT_SECONDS = 20;

/** Attempts for one request that fails for a temporary reason. */
export const ATTEMPTS = 3;
