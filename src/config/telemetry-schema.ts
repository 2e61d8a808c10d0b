/** The schema of `telemetry`, for traces and metrics; each option is documented in `docs/guide/telemetry.md`. */
import { z } from 'zod';
import { isUrl } from './references.ts';

const endpoint = z
  .string()
  .refine((address) => URL.canParse(address) && isUrl(address), 'is not an http: or https: URL')
  .optional();
const headers = z.record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/), z.string()).optional();

export const telemetryConfig = z.strictObject({
  serviceName: z.string().min(1).max(255).optional().describe('Default: OTEL_SERVICE_NAME, or vitrine'),
  traces: z
    .union([
      z.enum(['on', 'off']),
      z.strictObject({
        endpoint: endpoint.describe('The URL that spans are sent to. Default: http://localhost:4318/v1/traces'),
        headers: headers.describe('Headers of the requests with spans'),
        sample: z
          .number()
          .min(0)
          .max(1)
          .optional()
          .describe('The fraction of traces begun here that is recorded. Default: 1'),
        uris: z.enum(['on', 'off']).optional().describe('on: spans contain URIs of resources. Default: off'),
      }),
    ])
    .optional()
    .describe('Traces, by OTLP over HTTP. Default: off'),
  metrics: z
    .strictObject({
      endpoint: endpoint.describe('The URL that metrics are sent to. Default: none are sent'),
      headers: headers.describe('Headers of the requests with metrics'),
      intervalSeconds: z.number().min(1).max(86_400).optional().describe('Seconds between two reports. Default: 60'),
      prometheus: z
        .union([
          z.enum(['on', 'off']),
          z.strictObject({
            token: z
              .string()
              .min(16)
              .optional()
              .describe('The bearer token that /metrics needs; at least 16 characters'),
            open: z.boolean().optional().describe('true: everybody who reaches the server sees /metrics'),
          }),
        ])
        .optional()
        .describe('Metrics for Prometheus at /metrics, over HTTP. Default: off'),
    })
    .optional(),
});

export type TelemetryConfig = z.infer<typeof telemetryConfig>;

/**
 * Returns the problem with a configuration under which nobody could read `/metrics`. With `auth`, a request from this machine needs a
 * token like any other, because a proxy may have passed it on.
 */
export function metricsProblem(config: TelemetryConfig | undefined, auth: boolean): string | undefined {
  const { prometheus = 'off' } = config?.metrics ?? {};
  if (!auth || prometheus === 'off') return undefined;
  const { token, open = false } = prometheus === 'on' ? {} : prometheus;
  return token !== undefined || open ? undefined : 'With auth, it needs a token of its own, or open: true';
}
