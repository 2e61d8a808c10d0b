/**
 * Makes the errors that the operator sees when an upstream's token cannot be obtained. None of them contains a URL or a text
 * of another server, since either may carry a secret.
 */
import { OAuthClientFlowError, OAuthError, OAuthErrorCode } from '@modelcontextprotocol/client';
import { ResourceError } from '../../../core/errors.ts';

/** The error of a mount that nobody has authorized, or whose authorization has ended. */
export const needsAuthorization = (mount: string, cause?: unknown): ResourceError =>
  new ResourceError(
    'unavailable',
    `Upstream "${mount}" needs to be authorized by its operator: vitrine authorize <config> ${mount}`,
    { cause },
  );

/** The error of an authorization server that gave no token: it refused, or it did not answer. */
export function noToken(mount: string, cause: unknown): ResourceError {
  if (cause instanceof ResourceError) return cause;
  const why = reasonOf(cause);
  return new ResourceError('unavailable', `Upstream "${mount}": its authorization server gave no token; ${why}`, {
    cause,
  });
}

/** The error of a mount for which no assertion can be requested from the identity provider. */
export const noRequest = (mount: string, why: string): ResourceError =>
  new ResourceError('unavailable', `Upstream "${mount}": no assertion can be requested; ${why}`);

/**
 * The error of an identity provider that gave no usable assertion.
 * @param why quotes nothing of its answer but a known error code
 */
export const noAssertion = (mount: string, why: string | undefined, cause?: unknown): ResourceError =>
  cause instanceof ResourceError
    ? cause
    : new ResourceError(
        'unavailable',
        `Upstream "${mount}": its identity provider gave no usable assertion; ${why ?? reasonOf(cause)}`,
        { cause },
      );

/** Whether the authorization server will always refuse this refresh token or client. */
export const isFinal = (error: unknown): boolean =>
  error instanceof OAuthError &&
  [OAuthErrorCode.InvalidGrant, OAuthErrorCode.InvalidClient, OAuthErrorCode.UnauthorizedClient].some(
    (code) => code === error.code,
  );

function reasonOf(error: unknown): string {
  if (error instanceof OAuthError) return `it says ${error.code}`;
  if (error instanceof OAuthClientFlowError) return FLOW_REASONS[error.name] ?? 'it cannot be trusted with a token';
  if (error instanceof TypeError || error instanceof DOMException) return 'it does not answer';
  return 'it does not offer what Vitrine needs';
}

const FLOW_REASONS: Readonly<Record<string, string>> = {
  RegistrationRejectedError: 'it does not let Vitrine register itself: register a client there, and set clientId',
  AuthorizationServerMismatchError: 'it is another one than the issuer that was expected',
  IssuerMismatchError: 'it answers in the name of another issuer',
  InsecureTokenEndpointError: 'its token endpoint is not https',
};

/** Compares issuers as text, except for a slash at the end, which some servers print and others do not. */
export const isSameIssuer = (one: string, other: string): boolean =>
  one.replace(/\/$/, '') === other.replace(/\/$/, '');

/** Returns the token. @throws ResourceError `invalid`, without quoting it, if it has characters that a header cannot carry */
export function headerSafe(token: string, mount: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new ResourceError('invalid', `The token of upstream "${mount}" has characters that a header cannot carry`);
}
