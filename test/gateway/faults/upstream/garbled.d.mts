/** What the server answers with, by name. */
export declare const FORMS: Readonly<Record<string, unknown>>;
export declare const NOISES: Readonly<Record<string, unknown>>;
