/** Shows a text with a button that copies it. */
import { useState } from 'preact/hooks';
import { TEXTS } from '../texts.ts';

export function Copied({ text, name }: { readonly text: string; readonly name?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = (): void =>
    void navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => {},
    );
  const label = isCopied ? TEXTS.copied : (name ?? TEXTS.copy);
  return (
    <span class="copied">
      {name === undefined && <code>{text}</code>}
      <button type="button" class="quiet" onClick={copy} onBlur={() => setCopied(false)}>
        {label}
      </button>
    </span>
  );
}
