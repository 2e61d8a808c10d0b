/** Checks the addresses of icons and websites, whoever wrote them: a scheme must not run or open anything (973-4). */

/** The most UTF-16 units of an address that is no `data:` URI. */
const MAX_ADDRESS = 8_192;

/** Whitespace and control characters, which URL parsers drop, and backslashes, which they turn into slashes. */
const ODD = /[\u0000-\u0020\u007f-\u009f\\]/;

/** Whether a text is the address of a page: http or https, without credentials. */
export function isWebAddress(text: string): boolean {
  if (text.length > MAX_ADDRESS || ODD.test(text) || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

const IMAGE_DATA = /^data:image\/[\w.+-]{1,100}(?:;[\w.+-]{1,100}=[\w.+-]{1,100}){0,4}(?:;base64)?,/i;

/** Whether a text can be the address of an icon: an http(s) address, or a `data:` URI with an image. */
export const isIconAddress = (text: string): boolean => IMAGE_DATA.test(text.slice(0, 1_024)) || isWebAddress(text);

/** Whether a text is the MIME type of an image. */
export const isImageType = (text: string): boolean => /^image\/[\w.+-]{1,100}$/i.test(text);
