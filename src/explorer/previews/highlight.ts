/** The highlighter, with the languages that people have most. */
import { common, createLowlight } from 'lowlight';

const lowlight = createLowlight(common);

/** The tree of a text: elements with class names, and texts. */
export type Tree = ReturnType<typeof lowlight.highlight>;

/** @returns undefined for a language that it does not know */
export function highlight(text: string, language: string): Tree | undefined {
  return lowlight.registered(language) ? lowlight.highlight(language, text) : undefined;
}
