/** Answers running requests when the server shuts down. */
import { ResourceError, toWireError } from '../../core/errors.ts';
import type { Failure } from './envelope.ts';

export function cutShort(method: string): Failure {
  const error = new ResourceError('unavailable', 'The server is shutting down');
  return { error: toWireError(method === 'tools/call' ? error.afterwards() : error) };
}
