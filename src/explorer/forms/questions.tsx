/** Shows a server's questions as dialogs: a form, a link to open, or a text field in which the user answers in place of a model. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { isWebAddress } from '../../core/icons.ts';
import { visible } from '../previews/plain-text.tsx';
import { type Cell, useCell } from '../state/cell.ts';
import { TEXTS } from '../texts.ts';
import { isForModel, type WaitingQuestion } from './asked.ts';
import { defaultsOf, Fields, type Schema, type Values } from './fields.tsx';

/** Shows the question that has waited longest. */
export function Questions({ asked }: { readonly asked: Cell<readonly WaitingQuestion[]> }) {
  const all = useCell(asked);
  const [first] = all;
  return first === undefined ? null : <Question key={first} asked={first} />;
}

function Question({ asked }: { readonly asked: WaitingQuestion }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="question"
      onCancel={(event) => {
        event.preventDefault();
        asked.cancel();
      }}
    >
      <h2 id="question">{TEXTS.asks}</h2>
      {isForModel(asked.request) ? <Model asked={asked} /> : <Person asked={asked} />}
    </dialog>
  );
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

function Person({ asked: { request, answer, cancel } }: { readonly asked: WaitingQuestion }) {
  const { message, requestedSchema, url } = request.params ?? {};
  const schema = (typeof requestedSchema === 'object' && requestedSchema !== null ? requestedSchema : {}) as Schema;
  const [values, setValues] = useState<Values>(() => defaultsOf(schema));
  const address = textIn(url);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        answer({ action: 'accept', ...(address === '' && { content: values }) });
      }}
    >
      <p dir="auto">{visible(textIn(message))}</p>
      {address !== '' && (
        <p>
          {TEXTS.opensPage}{' '}
          {isWebAddress(address) ? (
            <a href={address} target="_blank" rel="noopener noreferrer external">
              {address}
            </a>
          ) : (
            <code>{address}</code>
          )}
        </p>
      )}
      <Fields schema={schema} values={values} change={setValues} />
      <p class="buttons">
        <button type="submit">{TEXTS.send}</button>
        <button type="button" class="quiet" onClick={() => answer({ action: 'decline' })}>
          {TEXTS.decline}
        </button>
        <button type="button" class="quiet" onClick={cancel}>
          {TEXTS.cancel}
        </button>
      </p>
    </form>
  );
}

function Model({ asked: { request, answer, refuse } }: { readonly asked: WaitingQuestion }) {
  const [words, setWords] = useState('');
  const { messages, systemPrompt } = request.params ?? {};
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        answer({ role: 'assistant', content: { type: 'text', text: words }, model: 'human', stopReason: 'endTurn' });
      }}
    >
      <p>{TEXTS.asksModel}</p>
      <pre dir="auto">{visible([textIn(systemPrompt), JSON.stringify(messages, null, 2)].join('\n').trim())}</pre>
      <div class="field">
        <label for="answer">{TEXTS.answer}</label>
        <textarea
          id="answer"
          rows={4}
          required
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      </div>
      <p class="buttons">
        <button type="submit">{TEXTS.send}</button>
        <button type="button" class="quiet" onClick={refuse}>
          {TEXTS.decline}
        </button>
      </p>
    </form>
  );
}
