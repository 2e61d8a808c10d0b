/** Gives components the store. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Store } from './store.ts';

export const StoreContext = createContext<Store | undefined>(undefined);

/** @throws Error outside the explorer */
export function useStore(): Store {
  const store = useContext(StoreContext);
  if (store === undefined) throw new Error('There is no store');
  return store;
}
