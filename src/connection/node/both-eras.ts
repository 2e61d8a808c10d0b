/**
 * Finds the era of a program over its single pipe, so that the program starts only once. Asks in the preferred era
 * first, and in the other era too if the program refuses or stays silent. A silent program may ignore unknown messages
 * or be slow to start, which cannot be told apart. Both questions then stay open, and any answer counts, however late.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/client';
import { type Data, isData } from '../../protocol/data.ts';
import { METHOD_NOT_FOUND } from '../../protocol/error-codes.ts';
import type { Era } from '../data.ts';
import { answerTo } from '../intake.ts';
import type { ProgramTransport } from './program.ts';

/**
 * After this silence a program is asked in the other era, too: in milliseconds, or one part in `SILENT_PART` of the time for
 * connecting if that is shorter.
 */
const SILENT_MS = 5_000;
const SILENT_PART = 10;

/** How long the second answer may take after the first, in milliseconds. */
const OTHER_MS = 1_000;

const ASKS = { modern: 'server/discover', legacy: 'initialize' } as const;

/** The client's `server/discover` gets this answer where 2025 was chosen, unless the program itself answered with an error. */
const NOT_ASKED: Data = { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };

export interface EitherEra extends ProgramTransport {
  /** The era in which the program has answered, whether or not the connection succeeded. */
  readonly answered: Era | undefined;
}

/**
 * Makes the transport for a client that negotiates the era itself, beginning with `server/discover`: the client gets
 * the answers of a program that speaks only the chosen era. After that, all messages pass unchanged.
 * @param first the era that is chosen where the program speaks both
 * @param connectMs the time for connecting
 */
export function inEitherEra(pipe: ProgramTransport, first: Era, connectMs: number): EitherEra {
  const second: Era = first === 'modern' ? 'legacy' : 'modern';
  const waiting = new Map<unknown, (answer: Data) => void>();
  /** The answer to the client's `initialize`, where the program was asked already. */
  let initialized: Promise<Data> | undefined;
  let asked = false;
  let answered: Era | undefined;
  /** The revision of 2026, as the client names it. */
  let version: unknown;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const deliver = (id: unknown, { result, error }: Data): void =>
    outer.onmessage?.({ jsonrpc: '2.0', id, ...(error === undefined ? { result } : { error }) } as JSONRPCMessage);

  function speaks(era: Era, answer: Data | undefined): answer is Data {
    const { protocolVersion, supportedVersions } = isData(answer?.result) ? answer.result : ({} as Data);
    if (era === 'legacy') return typeof protocolVersion === 'string';
    return Array.isArray(supportedVersions) && supportedVersions.includes(version);
  }

  function ask(era: Era, id: string, { _meta }: Data): Promise<Data> {
    const meta = (_meta ?? {}) as Data;
    const initialize: Data = {
      protocolVersion: LATEST_PROTOCOL_VERSION,
      capabilities: meta[CLIENT_CAPABILITIES_META_KEY],
      clientInfo: meta[CLIENT_INFO_META_KEY],
    };
    const params = era === 'legacy' ? initialize : { _meta: meta };
    const answer = new Promise<Data>((resolve) => {
      waiting.set(id, (came) => {
        if (speaks(era, came)) answered ??= era;
        resolve(came);
      });
    });
    // A question that cannot be sent gets no answer; the transport reports the end of the program.
    pipe.send({ jsonrpc: '2.0', id, method: ASKS[era], params }).catch(() => {});
    return answer;
  }

  /** Returns undefined where the answer does not come in time. */
  function soon(answer: Promise<Data>, ms: number): Promise<Data | undefined> {
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), ms);
    });
    return Promise.race([answer, late]).finally(() => clearTimeout(timer));
  }

  /** Returns the answer to the client's own question. */
  async function find(params: Data): Promise<Data> {
    version = (params._meta as Data | undefined)?.[PROTOCOL_VERSION_META_KEY];
    const answers = { [first]: ask(first, `era-${first}`, params) } as Record<Era, Promise<Data>>;
    const inLegacy = (discovered?: Data): Data => {
      initialized = answers.legacy;
      return discovered?.error === undefined ? NOT_ASKED : discovered;
    };
    const early = await soon(answers[first], Math.min(SILENT_MS, connectMs / SILENT_PART));
    if (speaks(first, early)) return first === 'modern' ? early : inLegacy();
    answers[second] = ask(second, `era-${second}`, params);
    // Once a program has answered one question, it is ready to read the other, too.
    if (early === undefined) await Promise.race([answers.modern, answers.legacy]);
    if (first === 'legacy') {
      if (speaks('legacy', await soon(answers.legacy, OTHER_MS))) return inLegacy();
      const modern = await answers.modern;
      return speaks('modern', modern) ? modern : inLegacy(modern);
    }
    let modern = await soon(answers.modern, OTHER_MS);
    if (modern === undefined && !speaks('legacy', await answers.legacy)) modern = await answers.modern;
    if (!speaks('modern', modern)) return inLegacy(modern);
    const legacy = await soon(answers.legacy, OTHER_MS);
    if (legacy !== undefined && !speaks('legacy', legacy)) return modern;
    // The program may read `initialize` late and then stay with 2025. The answer to this question, which it reads later, tells.
    const again = ask('modern', 'era-again', params);
    const greeted = answers.legacy.then((answer) => (speaks('legacy', answer) ? soon(again, OTHER_MS) : again));
    return speaks('modern', await Promise.race([again, greeted])) ? again : inLegacy();
  }

  const outer: EitherEra = {
    stderr: null,
    get answered() {
      return answered;
    },
    get pid() {
      return pipe.pid;
    },
    get exit() {
      return pipe.exit;
    },
    get odd() {
      return pipe.odd;
    },
    get stderrLine() {
      return pipe.stderrLine;
    },
    start() {
      pipe.onmessage = (message, extra) => {
        const id = answerTo(message);
        const take = waiting.get(id);
        if (take === undefined) return outer.onmessage?.(message, extra);
        waiting.delete(id);
        take(message as unknown as Data);
      };
      pipe.onerror = (error) => outer.onerror?.(error);
      pipe.onclose = () => {
        clearTimeout(timer);
        outer.onclose?.();
      };
      return pipe.start();
    },
    async send(message, options) {
      if (!asked && 'method' in message && message.method === ASKS.modern && 'id' in message) {
        asked = true;
        void find(message.params ?? {}).then((answer) => deliver(message.id, answer));
      } else if (initialized !== undefined && 'method' in message && message.method === ASKS.legacy) {
        void initialized.then((answer) => deliver('id' in message ? message.id : undefined, answer));
        initialized = undefined;
      } else await pipe.send(message, options);
    },
    cut: () => pipe.cut(),
    close: () => pipe.close(),
  };
  return outer;
}
