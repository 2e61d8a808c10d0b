/**
 * Converts text to UTF-8: by its byte order mark, or by the encoding that markup declares; other text as windows-1252, as
 * browsers do.
 */
import { decodeMarkup, decodeText } from './charset.ts';
import { type Converter, createOutput } from './converter.ts';

/** Types whose content names its own encoding. */
const MARKUP = /(?:^text\/html|[/+]xml)$/;

export const utf8: Converter = {
  name: 'utf-8',
  // Applies to any type, once its bytes are found not to be UTF-8.
  from: [],
  to: [],
  async convert(bytes, conversion) {
    const output = createOutput(conversion);
    output.add(MARKUP.test(conversion.from) ? decodeMarkup(bytes) : decodeText(bytes));
    return output.text();
  },
};
