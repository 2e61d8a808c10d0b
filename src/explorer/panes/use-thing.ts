/** Describes and reads the resource on the page, and does so again when it changes. */
import { useEffect, useState } from 'preact/hooks';
import { isFolder } from '../../frontends/explorer/kinds.ts';
import type { Resource } from '../../protocol/resources.ts';
import { METADATA_METHOD } from '../client/methods.ts';
import { isAbort, type Refusal, refusalOf } from '../client/refusal.ts';
import { useCell } from '../state/cell.ts';
import { stampOf } from '../state/listing.ts';
import type { View } from '../state/place.ts';
import { readThing, type Thing } from '../state/reading.ts';
import { useStore } from '../state/use-store.ts';

export interface Described {
  readonly uri: string;
  readonly resource?: Resource | undefined;
  readonly problem?: Refusal | undefined;
  /** Describes it again. */
  readonly again: () => void;
}

/** @param uri undefined for no resource */
export function useDescribed(uri: string | undefined): Described {
  const store = useStore();
  const changes = useCell(store.changes);
  const [described, setDescribed] = useState<Omit<Described, 'again'>>();
  const [asked, ask] = useState(0);
  const isWatched = useCell(store.live.watched).has(uri ?? '');
  useEffect(() => {
    if (uri === undefined) return;
    const abort = new AbortController();
    store.client.request<{ readonly resource: Resource }>(METADATA_METHOD, { uri }, abort.signal).then(
      ({ resource }) => setDescribed({ uri, resource }),
      (error: unknown) => isAbort(error) || setDescribed({ uri, problem: refusalOf(error) }),
    );
    return () => abort.abort();
  }, [store, uri, changes, asked]);
  // The resource may have changed between the read and the start of the watch.
  // Runs only when the watch begins.
  useEffect(() => {
    const before = described?.uri === uri ? described?.resource : undefined;
    if (!isWatched || before === undefined) return;
    const abort = new AbortController();
    store.client.request<{ readonly resource: Resource }>(METADATA_METHOD, { uri }, abort.signal).then(
      ({ resource }) => stampOf(resource) !== stampOf(before) && store.changes.set(store.changes.get() + 1),
      () => {},
    );
    return () => abort.abort();
  }, [store, uri, isWatched]);
  const again = (): void => ask((times) => times + 1);
  if (uri === undefined) return { uri: '', again };
  // The row that the user chose describes the resource until the answer arrives.
  return described?.uri === uri ? { ...described, again } : { uri, resource: store.known(uri), again };
}

export interface Shown {
  readonly thing?: Thing | undefined;
  readonly problem?: Refusal | undefined;
  /** How many times it was read again after a change. */
  readonly times: number;
  readonly again: () => void;
}

interface Read extends Omit<Shown, 'again'> {
  /** The resource and the view. */
  readonly key: string;
  /** How many changes there had been when it was read. */
  readonly changes: number;
}

/** @param resource undefined until its description is known */
export function useThing(resource: Resource | undefined, view: View): Shown {
  const store = useStore();
  const changes = useCell(store.changes);
  const [shown, setShown] = useState<Read>({ key: '', changes, times: 0 });
  const [asked, ask] = useState(0);
  const { as, from, lines, show } = view;
  const key = JSON.stringify([resource?.uri, as, from, lines, show]);
  const isThing = resource !== undefined && !isFolder(resource);
  // Reads again for another place and after a change, but not for another description.
  useEffect(() => {
    if (!isThing) return;
    const abort = new AbortController();
    const keep = (more: Pick<Shown, 'thing' | 'problem'>): void =>
      setShown((before) => {
        const times = before.changes === changes ? before.times : before.times + 1;
        return { ...more, key, changes, times: before.key === key ? times : 0 };
      });
    readThing(store.client, resource, { as, from, lines, show }, abort.signal).then(
      (thing) => keep({ thing }),
      (error: unknown) => isAbort(error) || keep({ problem: refusalOf(error) }),
    );
    return () => abort.abort();
  }, [store, key, isThing, changes, asked]);
  const again = (): void => ask((times) => times + 1);
  return shown.key === key ? { ...shown, again } : { times: 0, again };
}
