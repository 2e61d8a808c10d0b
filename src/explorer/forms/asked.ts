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

export const questioner =
  (asked: Cell<readonly WaitingQuestion[]>): Questioner =>
  (request) =>
    new Promise((resolve, reject) => {
      if (request.method === 'roots/list') return resolve({ roots: [] });
      const isModel = isForModel(request);
      if (asked.get().length >= MAX_ASKED)
        return isModel ? reject(new Refusal('limited', TEXTS.tooManyAsked)) : resolve(CANCELLED);
      const leave = (): void => asked.set(asked.get().filter((each) => each !== waiting));
      const waiting: WaitingQuestion = {
        request,
        answer(result) {
          leave();
          resolve(result);
        },
        refuse() {
          leave();
          reject(new Refusal('denied', TEXTS.declined));
        },
        cancel: () => (isModel ? waiting.refuse() : waiting.answer(CANCELLED)),
      };
      asked.set([...asked.get(), waiting]);
    });
