/** Shows a field for a variable of a template or an argument of a prompt, with values that the server suggests. */
import { useEffect, useId, useState } from 'preact/hooks';
import type { Data } from '../client/client.ts';
import { useStore } from '../state/use-store.ts';
import { TEXTS } from '../texts.ts';
import { suggestionsIn } from './suggestions.ts';

/** Milliseconds between the last keystroke and the request. */
const TYPING_MS = 120;

export interface CompletedProps {
  /** The reference to the template or the prompt, as `completion/complete` expects it. */
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
  const [suggestions, setSuggestions] = useState<readonly string[]>([]);
  const [hasFocus, setFocus] = useState(false);
  const value = values[name] ?? '';
  const query = JSON.stringify([reference, values]);
  // Requests suggestions again whenever a value changes.
  useEffect(() => {
    if (!hasFocus) return;
    const abort = new AbortController();
    const { [name]: _, ...others } = values;
    const timer = setTimeout(() => {
      const params = { ref: reference, argument: { name, value }, context: { arguments: others } };
      store.client
        .request<{ readonly completion?: { readonly values?: unknown } }>('completion/complete', params, abort.signal)
        .then(
          ({ completion }) => setSuggestions(suggestionsIn(completion?.values)),
          () => {},
        );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [store, query, hasFocus]);
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
        onFocus={() => setFocus(true)}
        onBlur={() => setFocus(false)}
        onInput={({ currentTarget }) => put(currentTarget.value)}
      />
      <datalist id={`${id}-offered`}>
        {suggestions.map((suggestion) => (
          <option key={suggestion} value={suggestion} />
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
