/** Server cards (SEP-2127): documents about a server that are read before anybody connects to it. */

export const CARD_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json';

export const CARD_TYPE = 'application/mcp-server-card+json';

/** Characters that the schema lets a name, a title or a description, and a version have. */
export const CARD_LENGTHS = { name: 200, text: 100, version: 255 } as const;

/** Whether it is a name that a card may have: a namespace, which is a domain turned around, a slash, and a name in it. */
export const isCardName = (name: string): boolean =>
  name.length <= CARD_LENGTHS.name && /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(name);
