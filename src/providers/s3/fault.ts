/** Turns errors of the store into errors for clients, and into messages for the person who started the server. */
import { notFound, ResourceError } from '../../core/errors.ts';
import { ODD_NAME } from '../../core/uri.ts';

interface Fault {
  readonly name: string;
  readonly status: number | undefined;
  readonly message: string;
}

function readFault(error: unknown): Fault {
  const { name, Code, code, message, $metadata } = (error ?? {}) as {
    readonly [key in 'name' | 'Code' | 'code' | 'message']?: unknown;
  } & { readonly $metadata?: { readonly httpStatusCode?: number } };
  const [first] = [Code, code, name].filter((text) => typeof text === 'string' && text !== 'Error' && text !== '');
  return {
    name: typeof first === 'string' ? first : 'Error',
    status: $metadata?.httpStatusCode,
    message: typeof message === 'string' ? message : '',
  };
}

const CREDENTIALS =
  /^(?:CredentialsProviderError|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken|TokenRefreshRequired|RequestTimeTooSkewed|XAdminUserNotFound)$/;
const REGION = /^(?:PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/;
const UNREACHABLE =
  /^(?:ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|TimeoutError|RequestTimeout|SlowDown|ServiceUnavailable|InternalError|NetworkingError|Throttling.*|ERR_TLS.*|.*CERT.*)$/;

/** The text that the client adds to the error when it cannot parse an answer. */
const UNREADABLE = /Deserialization error/;

/** Whether the store says that the requested key does not exist. */
export function isMissing(error: unknown): boolean {
  const { name, status } = readFault(error);
  return (
    name === 'NoSuchKey' ||
    name === 'NotFound' ||
    (status === 404 && name !== 'NoSuchBucket' && !CREDENTIALS.test(name))
  );
}

/** Whether the store says that the requested window begins past the end. */
export const isPastTheEnd = (error: unknown): boolean => {
  const { name, status } = readFault(error);
  return name === 'InvalidRange' || status === 416;
};

/**
 * Returns the error for the caller, or the reason of the signal if it is aborted. The name, status and message from the store
 * are in the cause, for the log. Its headers and signatures are not, since they contain credentials.
 */
export function faultOf(error: unknown, uri: string | undefined, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof ResourceError) return error;
  const { name, status, message } = readFault(error);
  const cause = new Error(`The store answered ${name}${status === undefined ? '' : ` (${status})`}: ${message}`);
  const unavailable = (text: string): ResourceError => new ResourceError('unavailable', text, { uri, cause });
  if (CREDENTIALS.test(name)) return unavailable("The store refuses this server's credentials");
  if (REGION.test(name) || status === 301) return unavailable('The store is set up for another region');
  if (name === 'NoSuchBucket') return unavailable('The bucket does not exist');
  if (name === 'InvalidObjectState') return unavailable('The object is archived; it has to be restored first');
  if (status === 403 || status === 401)
    return new ResourceError('denied', 'The store does not let this server read it', { uri, cause });
  if (isMissing(error)) return notFound(uri ?? '', cause);
  // Some stores refuse keys with dots or empty parts between slashes.
  if (status === 400 && uri?.includes(ODD_NAME)) return notFound(uri, cause);
  if (UNREACHABLE.test(name) || (status !== undefined && status >= 500))
    return unavailable('The store does not answer');
  if (status === 429) return new ResourceError('limited', 'The store has had too many requests', { uri, cause });
  if (UNREADABLE.test(message)) return unavailable('The store answered with something that cannot be read');
  return new ResourceError('internal', 'The store answered with an error', { uri, cause });
}

/** Returns a message for the person who mounted a bucket: what is wrong with the mount. It contains no secret. */
export function problemOf(
  error: unknown,
  {
    bucket,
    endpoint,
    region,
  }: { readonly bucket: string; readonly endpoint: string | undefined; readonly region: string | undefined },
): string {
  const { name, status, message } = readFault(error);
  const store = endpoint === undefined ? 'AWS' : new URL(endpoint).origin;
  const subject = `s3://${bucket} at ${store}`;
  if (name === 'CredentialsProviderError')
    return `${subject}: there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, or anonymous: true`;
  if (CREDENTIALS.test(name)) return `${subject}: the credentials are refused (${name})`;
  if (/region is missing/i.test(message)) return `${subject}: there is no region; set region, or AWS_REGION`;
  if (REGION.test(name) || status === 301)
    return `${subject}: the region ${region ?? 'of the profile'} is wrong (${name})${expectedRegion(message)}`;
  if (name === 'NoSuchBucket' || status === 404) return `${subject}: there is no such bucket`;
  if (status === 403 || status === 401)
    return `${subject}: the bucket may not be listed with these credentials (${name})`;
  if (UNREACHABLE.test(name)) return `${subject}: the store does not answer (${name})`;
  return `${subject}: the store answered with an error (${status === undefined ? name : `${name}, ${status}`})`;
}

function expectedRegion(message: string): string {
  const region = /expecting ["']([a-z0-9-]{1,64})["']/i.exec(message)?.[1];
  return region === undefined ? '' : `; it expects ${region}`;
}
