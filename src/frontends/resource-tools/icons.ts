/** An icon for each tool (973-2): a line drawing of a few bytes, as a `data:` URI, so that nothing has to be fetched. */
import type { Icon } from '../../protocol/resources.ts';
import type { ToolName } from './names.ts';

const BELL = 'M4 11V7a4 4 0 0 1 8 0v4l1 1H3zM7 14h2';
const LIST = 'M6 4h7M6 8h7M6 12h7M3 4h0M3 8h0M3 12h0';
const PAGE = 'M4 2h6l3 3v9H4z';
const SLASH = 'M2 2l12 12';

const STROKES: Readonly<Record<ToolName, string>> = {
  list: LIST,
  list_templates: 'M6 2C3 2 5 8 2 8c3 0 1 6 4 6M10 2c3 0 1 6 4 6-3 0-1 6-4 6',
  describe: 'M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2M8 7v4M8 5h0',
  read: `${PAGE}M6 8h5M6 11h5`,
  read_embedded: `${PAGE}M7 8l-1 1.5L7 11M10 8l1 1.5-1 1.5`,
  search: 'M7 2a5 5 0 1 0 0 10A5 5 0 1 0 7 2M11 11l3 3',
  skill: 'M8 2l1.8 3.7 4 .6-2.9 2.8.7 4L8 11.2 4.4 13.1l.7-4L2.2 6.3l4-.6z',
  summarize: 'M2 3h12M4 7h8M6 11h4M8 14h0',
  subscribe: BELL,
  unsubscribe: `${BELL}${SLASH}`,
  list_subscriptions: `${LIST}M1 4h0M1 8h0M1 12h0`,
  subscribe_list_changes: 'M2 3h7M2 7h5M2 11h5M12 6v8M8 10h8',
  unsubscribe_list_changes: 'M2 3h7M2 7h5M2 11h5M9 10h6',
};

export function iconOf(tool: ToolName): Icon {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="none" stroke="#4a6fa5" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"><path d="${STROKES[tool]}"/></svg>`;
  return {
    src: `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`,
    mimeType: 'image/svg+xml',
    sizes: ['any'],
  };
}
