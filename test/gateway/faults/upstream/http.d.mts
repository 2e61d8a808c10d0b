import type { Server } from 'node:http';

/** How a test steers the server: see control.mjs. */
export interface Control {
  fault(): { readonly kind?: string };
  world(): { readonly text: string; readonly changes: number };
  note(what: string, more?: object): void;
  strikes(method: string): object | undefined;
  look(look: () => void): void;
}

/** It begins to listen. */
export function serveHttp(control: Control, era: string, port: number): Server;
