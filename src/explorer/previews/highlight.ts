/** The highlighter, with the most common languages. */
import { common, createLowlight } from 'lowlight';

const lowlight = createLowlight(common);

/** The tree of a text: elements with class names, and texts. */
export type Tree = ReturnType<typeof lowlight.highlight>;

/** @returns undefined for an unknown language */
export function highlight(text: string, language: string): Tree | undefined {
  return lowlight.registered(language) ? lowlight.highlight(language, text) : undefined;
}
