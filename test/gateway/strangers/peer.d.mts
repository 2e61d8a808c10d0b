/** A server of somebody else. */
export interface Stranger {
  readonly identity: Readonly<Record<string, unknown>>;
}

/** What handles the messages of one connection. */
export interface StrangerPeer {
  handle(message: object): void;
}

export function createStrangerPeer(
  stranger: Stranger,
  era: 'legacy' | 'modern' | 'both',
  send: (message: object, about?: string | number) => void,
): StrangerPeer;
