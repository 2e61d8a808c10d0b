/** Questions of servers that wait for the user's answer. */
import type { InputRequest } from '../../protocol/input-required.ts';
import type { Data, Questioner } from '../client/client.ts';
import { Refusal } from '../client/refusal.ts';
import type { Cell } from '../state/cell.ts';
import { TEXTS } from '../texts.ts';

export interface WaitingQuestion {
  readonly request: InputRequest;
  readonly answer: (result: Data) => void;
  /** Cancels the request that asks. */
  readonly refuse: () => void;
}

/** The most questions that wait at a time; further ones are cancelled. */
const MAX_ASKED = 8;

export const questioner =
  (asked: Cell<readonly WaitingQuestion[]>): Questioner =>
  (request) =>
    new Promise((resolve, reject) => {
      if (request.method === 'roots/list') return resolve({ roots: [] });
      if (asked.get().length >= MAX_ASKED) return resolve({ action: 'cancel' });
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
      };
      asked.set([...asked.get(), waiting]);
    });
