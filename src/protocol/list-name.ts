/** A list of a server that can change. The server announces a change by `notifications/<list>/list_changed`. */
export type ListName = 'resources' | 'tools' | 'prompts';
