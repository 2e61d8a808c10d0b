/** The exit statuses of the commands for any server; documented in `docs/guide/command-line.md`. */

/** The command has done all its work. */
export const EXIT_OK = 0;
/** The server failed or answered wrongly, a tool said that it failed, there are no contents or matches, a check found faults. */
export const EXIT_FAILED = 1;
/** The command line or a configuration is wrong. */
export const EXIT_USAGE = 2;
/** There is no such resource, tool, prompt or skill, or the server names no website. */
export const EXIT_NOT_FOUND = 3;
/** The server does not let this client in, or does not let it do this; or its website is not trusted. */
export const EXIT_DENIED = 4;
/** The server cannot be reached or started, or a rate limit is used up. */
export const EXIT_UNAVAILABLE = 5;
/** No answer came in time. */
export const EXIT_TIMEOUT = 6;
/** The output is incomplete: a default limit was reached, the server cut it short, or a part failed. */
export const EXIT_INCOMPLETE = 7;
/** The server cannot do this, or has the resource in none of the wanted formats. */
export const EXIT_UNSUPPORTED = 8;
/** The content or the answer has more bytes than a limit allows. */
export const EXIT_TOO_LARGE = 9;

/** The status of a process that a signal ended: 128 plus the signal's number. */
export const exitOfSignal = (signal: NodeJS.Signals): number => 128 + (SIGNAL_NUMBERS[signal] ?? 2);

const SIGNAL_NUMBERS: Readonly<Partial<Record<NodeJS.Signals, number>>> = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

const OF_CODE: Readonly<Record<string, number>> = {
  'not-found': EXIT_NOT_FOUND,
  denied: EXIT_DENIED,
  unavailable: EXIT_UNAVAILABLE,
  limited: EXIT_UNAVAILABLE,
  timeout: EXIT_TIMEOUT,
  unsupported: EXIT_UNSUPPORTED,
  'not-acceptable': EXIT_UNSUPPORTED,
  'not-listable': EXIT_UNSUPPORTED,
  'too-large': EXIT_TOO_LARGE,
  invalid: EXIT_USAGE,
};

/** The status for the `code` of a `ResourceClientError`. */
export const exitOfCode = (code: string): number => OF_CODE[code] ?? EXIT_FAILED;
