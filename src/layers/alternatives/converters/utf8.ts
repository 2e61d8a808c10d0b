/** Text in another encoding, as UTF-8: UTF-16 by its mark, and what does not say what it is as windows-1252, as browsers take it. */
import { decodeMarkup, decodeText } from './charset.ts';
import { type Converter, createOutput } from './converter.ts';

/** Types that say within themselves in which encoding they are. */
const MARKUP = /(?:^text\/html|[/+]xml)$/;

export const utf8: Converter = {
  name: 'utf-8',
  // Of any type, where its bytes are found not to be UTF-8.
  from: [],
  to: [],
  async convert(bytes, conversion) {
    const output = createOutput(conversion);
    output.add(MARKUP.test(conversion.from) ? decodeMarkup(bytes) : decodeText(bytes));
    return output.text();
  },
};
