/** Serves a path or a configuration to a command within the same process, just as `serve` does to a host that starts it. */
import { PassThrough, Writable } from 'node:stream';
import type { Secrets } from '../../../config/secrets.ts';
import type { ServerHere } from '../../../connection/node/here.ts';
import { serve } from '../../serve.ts';
import { limitEnd } from '../../stopping.ts';
import type { Terminal } from '../../terminal.ts';
import type { TargetFlags } from './target.ts';

/** A server within this process. */
export interface Here {
  /** Starts the server on streams of its own. */
  begin(): ServerHere;
  /** Why the server could not start; undefined if it could. */
  readonly failure: { readonly error: unknown } | undefined;
}

/** @param source an argument of `serve`; @param onStderr takes the lines of the server's log */
export function serveHere(
  source: string,
  { asDocument = false }: TargetFlags,
  secrets: Secrets,
  onStderr: (text: string) => void,
): Here {
  let failure: Here['failure'];

  function begin(): ServerHere {
    const input = new PassThrough();
    const output = new PassThrough();
    const errors = new Writable({
      write(chunk: Buffer, _encoding, done) {
        onStderr(chunk.toString());
        done();
      },
    });
    const terminal: Terminal = {
      input,
      output,
      errors,
      // The command handles signals itself, and ends the input.
      takeSignals: (log) => ({
        signalled: new Promise(() => {}),
        begin() {
          limit ??= limitEnd(log);
        },
      }),
      exit: () => {},
    };
    let limit: NodeJS.Timeout | undefined;
    const served = serve(
      [source],
      { logLevel: 'warn', ...(asDocument && { asDocument, hidden: true }) },
      secrets,
      terminal,
    ).catch((error: unknown) => {
      failure = { error };
      throw error;
    });
    const ended = served.finally(() => clearTimeout(limit));
    return { input, output, ended };
  }

  return {
    begin,
    get failure() {
      return failure;
    },
  };
}
