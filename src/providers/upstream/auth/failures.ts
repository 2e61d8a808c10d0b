/**
 * The errors on the way to a token, in words for the operator. None of them contains a URL or a text of another server:
 * either may carry a secret.
 */
import { OAuthClientFlowError, OAuthError, OAuthErrorCode } from '@modelcontextprotocol/client';
import { ResourceError } from '../../../core/errors.ts';

/** Nobody has authorized this mount, or what was authorized is over. */
export const needsAuthorization = (mount: string, cause?: unknown): ResourceError =>
  new ResourceError(
    'unavailable',
    `Upstream "${mount}" needs to be authorized by its operator: vitrine authorize <config> ${mount}`,
    { cause },
  );

/** The authorization server gave no token: it refused, or it did not answer. */
export function noToken(mount: string, cause: unknown): ResourceError {
  if (cause instanceof ResourceError) return cause;
  const why = reasonOf(cause);
  return new ResourceError('unavailable', `Upstream "${mount}": its authorization server gave no token; ${why}`, {
    cause,
  });
}

/** The identity provider gave no assertion. @param why without anything that it has said, but for a known code */
export const noAssertion = (mount: string, why: string | undefined, cause?: unknown): ResourceError =>
  cause instanceof ResourceError
    ? cause
    : new ResourceError(
        'unavailable',
        `Upstream "${mount}": its identity provider gave no assertion; ${why ?? reasonOf(cause)}`,
        { cause },
      );

/** Whether the same refresh token, or client, will be refused for ever. */
export const isFinal = (error: unknown): boolean =>
  error instanceof OAuthError &&
  [OAuthErrorCode.InvalidGrant, OAuthErrorCode.InvalidClient, OAuthErrorCode.UnauthorizedClient].some(
    (code) => code === error.code,
  );

function reasonOf(error: unknown): string {
  if (error instanceof OAuthError) return `it says ${error.code}`;
  if (error instanceof OAuthClientFlowError) return FLOW_REASONS[error.name] ?? 'it is not to be trusted with it';
  if (error instanceof TypeError || error instanceof DOMException) return 'it does not answer';
  return 'it does not offer what is needed';
}

const FLOW_REASONS: Readonly<Record<string, string>> = {
  RegistrationRejectedError: 'it does not let Vitrine register itself: register a client there, and set clientId',
  AuthorizationServerMismatchError: 'it is another one than the issuer that was expected',
  IssuerMismatchError: 'it answers in the name of another issuer',
  InsecureTokenEndpointError: 'its token endpoint is not https',
};

/** Issuers are compared as text, but for a slash at the end that some servers print and others do not. */
export const isSameIssuer = (one: string, other: string): boolean =>
  one.replace(/\/$/, '') === other.replace(/\/$/, '');

/** @throws ResourceError `invalid` for a token that would break the header that carries it, without quoting it */
export function headerSafe(token: string, mount: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new ResourceError('invalid', `The token of upstream "${mount}" has characters that a header cannot carry`);
}
