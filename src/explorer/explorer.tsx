/** Starts the explorer in an element, with any connection to an MCP server. */
import { render } from 'preact';
import type { Client } from './client/client.ts';
import type { Exchange } from './client/exchange.ts';
import type { Asked } from './forms/asked.ts';
import { App } from './panes/app.tsx';
import { takeKeys } from './panes/keys.tsx';
import { restoreTheme } from './panes/theme.ts';
import { type Cell, cell } from './state/cell.ts';
import { createStore, type Store } from './state/store.ts';
import { StoreContext } from './state/use-store.ts';

export interface ExplorerOptions {
  readonly client: Client;
  readonly exchanges: Cell<readonly Exchange[]>;
  readonly asked: Cell<readonly Asked[]>;
  /** Title of the server. */
  readonly server: string;
  /** The endpoint, for what is copied from the page; undefined where only this browser gets in. */
  readonly endpoint: string | undefined;
  /** Whether places are kept in the address of the page. Default: true. */
  readonly addresses?: boolean;
}

export interface RunningExplorer {
  readonly store: Store;
  /** Ends the streams, and takes the explorer out of the element. */
  close(): void;
}

/** Draws the explorer into an element, which need not be in the page yet. */
export function startExplorer(root: HTMLElement, options: ExplorerOptions): RunningExplorer {
  const { client, exchanges, asked, server, endpoint, addresses = true } = options;
  restoreTheme();
  const store = createStore({ client, exchanges, server, addresses });
  const help = cell(false);
  const untake = takeKeys(store, help);
  render(
    <StoreContext.Provider value={store}>
      <App endpoint={endpoint} help={help} asked={asked} />
    </StoreContext.Provider>,
    root,
  );
  return {
    store,
    close() {
      untake();
      store.close();
      render(null, root);
    },
  };
}
