/** Starts the explorer in an element, with any connection to an MCP server. */
import { render } from 'preact';
import type { Client } from './client/client.ts';
import type { Exchange } from './client/exchange.ts';
import type { WaitingQuestion } from './forms/asked.ts';
import { App } from './panes/app.tsx';
import { takeKeys } from './panes/keys.tsx';
import { restoreTheme } from './panes/theme.ts';
import { type Cell, cell } from './state/cell.ts';
import { createStore, type Store } from './state/store.ts';
import { StoreContext } from './state/use-store.ts';

export interface ExplorerOptions {
  readonly client: Client;
  readonly exchanges: Cell<readonly Exchange[]>;
  readonly asked: Cell<readonly WaitingQuestion[]>;
  /** The title of the server. */
  readonly server: string;
  /** The endpoint, for commands to copy; undefined if only this browser has access. */
  readonly endpoint: string | undefined;
  /** Whether the address of the page follows the place. Default: true. */
  readonly addresses?: boolean;
}

export interface RunningExplorer {
  readonly store: Store;
  /** Ends the streams and removes the explorer from the element. */
  close(): void;
}

/** Draws the explorer into an element. The element may be added to the page later. */
export function startExplorer(root: HTMLElement, options: ExplorerOptions): RunningExplorer {
  const { client, exchanges, asked, server, endpoint, addresses = true } = options;
  restoreTheme();
  const store = createStore({ client, exchanges, server, addresses });
  const help = cell(false);
  const releaseKeys = takeKeys(store, help);
  render(
    <StoreContext.Provider value={store}>
      <App endpoint={endpoint} help={help} asked={asked} />
    </StoreContext.Provider>,
    root,
  );
  return {
    store,
    close() {
      releaseKeys();
      store.close();
      render(null, root);
    },
  };
}
