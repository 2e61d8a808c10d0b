/** Rewrites errors of the frontends for a model, so that they say what to call instead. */
import { ResourceError } from '../../core/errors.ts';
import { scrub } from '../../core/text/scrub.ts';
import { callOf, type ToolSetup } from './setup.ts';

/** The longest URI that is repeated in an error, in UTF-16 units. */
const MAX_REPEATED_URI = 500;

/** Returns a ResourceError with a message for a model. Any other error is returned as it is, for the caller to hide. */
export function advised(error: unknown, setup: ToolSetup): unknown {
  if (!(error instanceof ResourceError)) return error;
  const uri = error.uri === undefined || error.uri.length > MAX_REPEATED_URI ? undefined : scrub(error.uri);
  return new ResourceError(error.code, messageFor(error, uri, setup), {
    uri,
    cause: error.cause ?? error,
    details: error.details,
  });
}

function messageFor(error: ResourceError, uri: string | undefined, setup: ToolSetup): string {
  switch (error.code) {
    case 'not-found':
      return `${error.message}; ${setup.nameOf('list')} shows what there is`;
    case 'too-large': {
      const { limit, size } = error.details;
      const large = typeof size === 'number' ? `It has ${size} bytes` : 'It is large';
      const most = typeof limit === 'number' ? `, and one read takes at most ${limit}` : '';
      return `${large}${most}; go through it in windows: ${callOf(setup, 'read', { uri, as: 'window', start_offset: 0 })}`;
    }
    case 'timeout':
    case 'unavailable':
      return `${error.message}; try again later`;
    case 'not-listable':
    case 'denied':
    case 'limited':
    case 'invalid':
    case 'internal':
      return error.message;
  }
}
