/** The lists of a server that change: it tells clients by `notifications/<list>/list_changed`. */
export type ListName = 'resources' | 'tools' | 'prompts';
