/** Shows what went wrong in one sentence, and one thing to do about it. */
import { addressOf } from '../../frontends/explorer/address.ts';
import type { Refusal } from '../client/refusal.ts';
import { folderBeside } from '../state/place.ts';
import { parentOf } from '../state/tree.ts';
import { useStore } from '../state/use-store.ts';
import { PROBLEMS, TEXTS } from '../texts.ts';
import { Link } from './link.tsx';

/** Reasons of errors that may go away, so that trying again makes sense. */
const TEMPORARY: ReadonlySet<string> = new Set(['timeout', 'limited', 'unavailable', 'internal']);

interface ProblemProps {
  readonly refusal: Refusal;
  readonly uri?: string | undefined;
  readonly again: () => void;
}

export function Problem({ refusal, uri, again }: ProblemProps) {
  const texts = PROBLEMS[refusal.reason] ?? PROBLEMS.internal;
  return (
    <div class="problem" role="alert">
      <h2>{texts?.title}</h2>
      <p>{texts?.what}</p>
      {refusal.message !== '' && (
        <p class="soft" dir="auto">
          {refusal.message}
        </p>
      )}
      <Remedy refusal={refusal} uri={uri} again={again} />
    </div>
  );
}

function Remedy({ refusal: { reason }, uri, again }: ProblemProps) {
  const { roots, place } = useStore();
  if (reason === 'unauthorized')
    return (
      <button type="button" onClick={() => location.reload()}>
        {TEXTS.reload}
      </button>
    );
  if (reason === 'too-large' && uri !== undefined) return <a href={addressOf('raw', uri)}>{TEXTS.openRaw}</a>;
  if (!TEMPORARY.has(reason)) {
    const above = uri === undefined ? undefined : parentOf(roots.get(), uri);
    return <Link to={folderBeside(place.get(), above)}>{TEXTS.up}</Link>;
  }
  return (
    <button type="button" onClick={again}>
      {TEXTS.again}
    </button>
  );
}
