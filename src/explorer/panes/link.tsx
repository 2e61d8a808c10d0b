/** A link to a place. It has a real address, so that it can be copied or opened in another tab; a click stays on the page. */
import type { ComponentChildren } from 'preact';
import { addressOfPlace, type Place } from '../state/place.ts';
import { useStore } from '../state/use-store.ts';

export interface LinkProps {
  readonly to: Place;
  readonly replace?: boolean;
  readonly class?: string;
  readonly title?: string | undefined;
  readonly tabIndex?: number;
  readonly 'aria-current'?: 'true' | undefined;
  readonly 'aria-label'?: string;
  readonly children?: ComponentChildren;
}

export function Link({ to, replace = false, children, ...rest }: LinkProps) {
  const store = useStore();
  return (
    <a
      {...rest}
      href={addressOfPlace(to)}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        store.go(to, replace);
      }}
    >
      {children}
    </a>
  );
}
