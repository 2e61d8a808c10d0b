/** Shows the results of a search: resources whose names match, and places in texts, each with a link to its lines. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { kindOf } from '../../frontends/explorer/kinds.ts';
import { splitLines } from '../../frontends/resources/line-uri.ts';
import type { ContentBlock } from '../../protocol/content.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { Data } from '../client/client.ts';
import { isAbort, type Refusal, refusalOf } from '../client/refusal.ts';
import { visible } from '../previews/plain-text.tsx';
import { useCell } from '../state/cell.ts';
import { type Found, search, searchToolOf } from '../state/search.ts';
import { useStore } from '../state/use-store.ts';
import { TEXTS } from '../texts.ts';
import { Link } from './link.tsx';
import { Problem } from './problem.tsx';

/** The most places in texts that are shown. */
const MAX_PLACES = 1_000;

export function Results({ words }: { readonly words: string }) {
  const store = useStore();
  const { tool: tools } = useCell(store.offers);
  const tool = searchToolOf(tools);
  const [found, setFound] = useState<{ readonly of: string; readonly found?: Found; readonly problem?: Refusal }>();
  const [attempt, setAttempt] = useState(0);
  const leave = useRef<AbortController>(undefined);
  // Searches again for other words, and when the user tries again after a problem.
  useEffect(() => {
    if (words === '' || tool === undefined) return;
    const abort = new AbortController();
    search(store.client, tool, words, undefined, abort.signal).then(
      (found) => setFound({ of: words, found }),
      (error: unknown) => isAbort(error) || setFound({ of: words, problem: refusalOf(error) }),
    );
    return () => {
      abort.abort();
      leave.current?.abort();
      leave.current = undefined;
    };
  }, [store, words, tool?.name, attempt]);
  const more = (next: Data): void => {
    // A second click must not ask for the same page again: the server gives each page once.
    if (tool === undefined || leave.current !== undefined) return;
    const abort = new AbortController();
    leave.current = abort;
    const ended = (): void => {
      if (leave.current === abort) leave.current = undefined;
    };
    search(store.client, tool, words, next, abort.signal)
      .finally(ended)
      .then(
        (page) =>
          setFound((before) =>
            before?.of === words && before.found !== undefined
              ? {
                  of: words,
                  found: { ...page, names: before.found.names, texts: [...before.found.texts, ...page.texts] },
                }
              : before,
          ),
        (error: unknown) => isAbort(error) || setFound({ of: words, problem: refusalOf(error) }),
      );
  };
  const isOutdated = found?.of !== words;
  return (
    <section class="results" aria-busy={isOutdated}>
      <h1 dir="auto">{words === '' ? TEXTS.searchEverything : TEXTS.found(words)}</h1>
      {tools.length > 0 && tool === undefined && <p>{TEXTS.noSearch}</p>}
      {words === '' && <p class="soft">{TEXTS.searchHint}</p>}
      {words !== '' && isOutdated && tool !== undefined && (
        <p class="soft" role="status">
          {TEXTS.searching}
        </p>
      )}
      {words !== '' && found?.problem !== undefined && (
        <Problem refusal={found.problem} again={() => setAttempt((count) => count + 1)} />
      )}
      {words !== '' && found?.found !== undefined && <Places found={found.found} words={words} more={more} />}
    </section>
  );
}

interface PlacesProps {
  readonly found: Found;
  readonly words: string;
  readonly more: (next: Data) => void;
}

function Places({ found: { names, texts, message, notSearched, next }, words, more }: PlacesProps) {
  return (
    <>
      {message !== undefined && <p dir="auto">{message}</p>}
      {names.length > 0 && (
        <>
          <h2>{TEXTS.byName}</h2>
          <ul class="found">
            {names.map((block) => block.type === 'resource_link' && <li key={block.uri}>{<To resource={block} />}</li>)}
          </ul>
        </>
      )}
      {texts.length > 0 && (
        <>
          <h2>{TEXTS.inTexts}</h2>
          <ol class="found">
            {texts.map((block, at) => (
              <PlaceIn key={at} block={block} words={words} />
            ))}
          </ol>
        </>
      )}
      {notSearched !== undefined && (
        <p class="soft" dir="auto">
          {notSearched}
        </p>
      )}
      {next !== undefined && texts.length < MAX_PLACES && (
        <button type="button" onClick={() => more(next)}>
          {TEXTS.next}
        </button>
      )}
      {names.length + texts.length === 0 && message === undefined && <p>{TEXTS.nothingFound}</p>}
    </>
  );
}

function PlaceIn({ block, words }: { readonly block: ContentBlock; readonly words: string }) {
  if (block.type === 'resource_link')
    return (
      <li>
        <To resource={block} />
      </li>
    );
  if (block.type !== 'resource' || !('text' in block.resource)) return null;
  const { resource, lines } = splitLines(block.resource.uri);
  return (
    <li>
      <To resource={{ ...block.resource, uri: resource }} lines={lines && `${lines.first}-${lines.last}`} />{' '}
      <span class="soft">{lines && TEXTS.lines(lines.first, lines.last)}</span>
      <pre dir="auto">{marked(visible(block.resource.text), words)}</pre>
    </li>
  );
}

function marked(text: string, words: string): ComponentChildren {
  const wanted = words.toLowerCase();
  const lower = text.toLowerCase();
  // If lower case has another length, the positions in the two texts differ.
  if (lower.length !== text.length) return text;
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (let next = lower.indexOf(wanted); next >= 0; next = lower.indexOf(wanted, at)) {
    parts.push(text.slice(at, next), <mark>{text.slice(next, next + wanted.length)}</mark>);
    at = next + wanted.length;
  }
  return [...parts, text.slice(at)];
}

function To({ resource, lines }: { readonly resource: Resource; readonly lines?: string | undefined }) {
  return (
    <>
      <Link class={`k k-${kindOf(resource)}`} to={{ kind: 'resource', uri: resource.uri, lines }}>
        <bdi>{resource.title ?? resource.name}</bdi>
      </Link>{' '}
      <code class="soft">{resource.uri}</code>
    </>
  );
}
