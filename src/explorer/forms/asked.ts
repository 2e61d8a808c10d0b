/** Questions of servers that wait for the user's answer. */
import type { InputRequest } from '../../protocol/input-required.ts';
import type { Data, Questioner } from '../client/client.ts';
import { Refusal } from '../client/refusal.ts';
import type { Cell } from '../state/cell.ts';
import { TEXTS } from '../texts.ts';

export interface WaitingQuestion {
  readonly request: InputRequest;
  readonly answer: (result: Data) => void;
  /** Fails the request that asks. */
  readonly refuse: () => void;
  /** Closes the question without an answer. Only the result of a question for a person can say so; one for a model is refused. */
  readonly cancel: () => void;
}

/** Whether a question is for a model, so that its result is a message. */
export const isForModel = ({ method }: InputRequest): boolean => method === 'sampling/createMessage';

const CANCELLED: Data = { action: 'cancel' };

/** The most questions that wait at a time; further ones are cancelled, and those for a model refused. */
const MAX_ASKED = 8;

/** The request that gets the answer to a question. */
interface Asker {
  readonly resolve: (result: Data) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal | undefined;
}

/**
 * A question whose request is given up stays, because a person may be typing. If a later request asks the same, it gets the answer:
 * a changed resource is read again, for example, while the person answers a question of the read before.
 */
export function questioner(asked: Cell<readonly WaitingQuestion[]>): Questioner {
  const askers = new WeakMap<WaitingQuestion, Asker>();
  /** Whether the later request took over the question of one that was given up. */
  function takesOver(request: InputRequest, asker: Asker): boolean {
    const text = JSON.stringify(request);
    for (const waiting of asked.get()) {
      const before = askers.get(waiting);
      if (before?.signal?.aborted !== true || JSON.stringify(waiting.request) !== text) continue;
      before.reject(before.signal.reason);
      askers.set(waiting, asker);
      return true;
    }
    return false;
  }
  return (request, signal) =>
    new Promise((resolve, reject) => {
      if (request.method === 'roots/list') return resolve({ roots: [] });
      if (takesOver(request, { resolve, reject, signal })) return;
      const isModel = isForModel(request);
      if (asked.get().length >= MAX_ASKED)
        return isModel ? reject(new Refusal('limited', TEXTS.tooManyAsked)) : resolve(CANCELLED);
      const leave = (): Asker | undefined => {
        asked.set(asked.get().filter((each) => each !== waiting));
        return askers.get(waiting);
      };
      const waiting: WaitingQuestion = {
        request,
        answer(result) {
          leave()?.resolve(result);
        },
        refuse() {
          leave()?.reject(new Refusal('denied', TEXTS.declined));
        },
        cancel: () => (isModel ? waiting.refuse() : waiting.answer(CANCELLED)),
      };
      askers.set(waiting, { resolve, reject, signal });
      asked.set([...asked.get(), waiting]);
    });
}
