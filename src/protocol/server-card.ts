/** Server cards (SEP-2127): documents about a server to read before connecting to it. */

export const CARD_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json';

export const CARD_TYPE = 'application/mcp-server-card+json';

/** The most characters of a card's name, of its texts (title and description), and of its version. */
export const CARD_LENGTHS = { name: 200, text: 100, version: 255 } as const;

/** Whether a name is valid in a card: a namespace, which is a domain with reversed labels, a slash, and a name. */
export const isCardName = (name: string): boolean =>
  name.length <= CARD_LENGTHS.name && /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(name);
