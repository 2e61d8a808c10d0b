/** The names of the resource tools, without a prefix. */

export const TOOL_NAMES = [
  'list',
  'list_templates',
  'describe',
  'read',
  'read_embedded',
  'search',
  'skill',
  'summarize',
  'subscribe',
  'unsubscribe',
  'list_subscriptions',
  'subscribe_list_changes',
  'unsubscribe_list_changes',
] as const;

export type ToolName = (typeof TOOL_NAMES)[number];
