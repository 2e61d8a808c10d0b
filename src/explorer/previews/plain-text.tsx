/** Shows text as it is, except that invisible characters are written out. */
import { showUnseen } from '../../core/text/clean-text.ts';
import { shownText } from '../../frontends/explorer/figures.ts';

export const visible = (text: string): string => showUnseen(shownText(text));

export const PlainText = ({ text }: { readonly text: string }) => <pre dir="auto">{visible(text)}</pre>;
