/** A field of a template or a prompt that the server completes. */
import { useEffect, useId, useState } from 'preact/hooks';
import type { Data } from '../client/client.ts';
import { useStore } from '../state/use-store.ts';
import { TEXTS } from '../texts.ts';
import { offeredOf } from './offered.ts';

/** Milliseconds between the last keystroke and the request. */
const TYPING_MS = 120;

export interface CompletedProps {
  /** The template or the prompt, as `completion/complete` names it. */
  readonly reference: Data;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly isRequired?: boolean | undefined;
  readonly values: Readonly<Record<string, string>>;
  readonly put: (value: string) => void;
}

export function Completed({ reference, name, title, description, isRequired = false, values, put }: CompletedProps) {
  const store = useStore();
  const id = useId();
  const [offered, setOffered] = useState<readonly string[]>([]);
  const [isHere, setHere] = useState(false);
  const value = values[name] ?? '';
  const about = JSON.stringify([reference, values]);
  // Requests again for other words.
  useEffect(() => {
    if (!isHere) return;
    const abort = new AbortController();
    const { [name]: _, ...others } = values;
    const timer = setTimeout(() => {
      const params = { ref: reference, argument: { name, value }, context: { arguments: others } };
      store.client
        .request<{ readonly completion?: { readonly values?: unknown } }>('completion/complete', params, abort.signal)
        .then(
          ({ completion }) => setOffered(offeredOf(completion?.values)),
          () => {},
        );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [store, about, isHere]);
  return (
    <div class="field">
      <label for={id}>
        <bdi>{title ?? name}</bdi>
        {isRequired && <span class="soft"> {TEXTS.required}</span>}
      </label>
      <input
        id={id}
        type="text"
        list={`${id}-offered`}
        required={isRequired}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onFocus={() => setHere(true)}
        onBlur={() => setHere(false)}
        onInput={({ currentTarget }) => put(currentTarget.value)}
      />
      <datalist id={`${id}-offered`}>
        {offered.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      {description !== undefined && (
        <small class="soft" dir="auto">
          {description}
        </small>
      )}
    </div>
  );
}
