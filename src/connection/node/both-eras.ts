/**
 * Which era a program speaks, asked over its one pipe, so that it is started once: in the era that is wanted first, and in the
 * other one too where it refuses that, or says nothing. It may ignore what it does not know, or be slow to start, which nobody
 * can tell apart: both questions wait for it then, and whatever it answers, late or not, is taken.
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

/** How long a program may be silent until it is asked in the other era, too, in milliseconds, or this part of connecting. */
const SILENT_MS = 5_000;
const SILENT_PART = 10;

/** How long the answer to the other question may take, once one was answered, in milliseconds. */
const OTHER_MS = 1_000;

const ASKS = { modern: 'server/discover', legacy: 'initialize' } as const;

/** The place of an answer that the client waits for, where another one was taken. */
const NOT_ASKED: Data = { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };

export interface EitherEra extends ProgramTransport {
  /** The era in which the program has answered, whatever became of it then. */
  readonly answered: Era | undefined;
}

/**
 * The transport for a client that asks for the era itself, beginning with `server/discover`: it gets the answers that it
 * would have had from a program that speaks the era that was found. From then on everything passes.
 * @param first is taken where the program has both; @param connectMs for all of connecting
 */
export function inEitherEra(pipe: ProgramTransport, first: Era, connectMs: number): EitherEra {
  const second: Era = first === 'modern' ? 'legacy' : 'modern';
  const waiting = new Map<unknown, (answer: Data) => void>();
  /** The answer to the client's `initialize`, where the program was asked already. */
  let initialized: Promise<Data> | undefined;
  let asked = false;
  let answered: Era | undefined;
  /** Of 2026, as the client names it. */
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
    // A question that cannot be sent gets no answer. The transport reports the end of the program itself.
    pipe.send({ jsonrpc: '2.0', id, method: ASKS[era], params }).catch(() => {});
    return answer;
  }

  /** Undefined where it does not come in time. */
  function soon(answer: Promise<Data>, ms: number): Promise<Data | undefined> {
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), ms);
    });
    return Promise.race([answer, late]).finally(() => clearTimeout(timer));
  }

  /** The answer to the client's own question. */
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
    // Who has answered one question has read the other, or reads it now.
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
    // The program reads `initialize` late and may stay with 2025 then. It reads this question after that: its answer tells.
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
    get said() {
      return pipe.said;
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
