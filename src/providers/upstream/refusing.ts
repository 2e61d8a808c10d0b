/** Tells whether an upstream refuses a request because it has no such method, or no such resource. */
import { PeerError } from '../../core/errors.ts';
import { INVALID_PARAMS, LEGACY_RESOURCE_NOT_FOUND, METHOD_NOT_FOUND } from '../../protocol/error-codes.ts';

export const isNoMethod = (error: unknown): boolean =>
  error instanceof PeerError && error.wire.code === METHOD_NOT_FOUND;

/** Returns the answer of a server; undefined if it does not have the method. */
export async function ifKnown<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isNoMethod(error)) return undefined;
    throw error;
  }
}

/** Gives a missing resource the same error code in both eras. @throws PeerError for any error answer of the upstream */
export async function refusing<T>(uri: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof PeerError)) throw error;
    const { code, data } = error.wire;
    // An error with a reason is about something else in the request.
    const lacks = code === INVALID_PARAMS && data?.uri === uri && data.reason === undefined;
    const missing = code === LEGACY_RESOURCE_NOT_FOUND || lacks;
    throw new PeerError(missing ? { ...error.wire, code: LEGACY_RESOURCE_NOT_FOUND } : error.wire, uri);
  }
}
