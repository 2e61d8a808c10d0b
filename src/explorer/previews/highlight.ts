/** The highlighter, with the languages that people have most. */
import type { Root } from 'hast';
import { common, createLowlight } from 'lowlight';

const lowlight = createLowlight(common);

/** @returns undefined for a language that it does not know */
export function highlight(text: string, language: string): Root | undefined {
  return lowlight.registered(language) ? lowlight.highlight(language, text) : undefined;
}
