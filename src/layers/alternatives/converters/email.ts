/** Converts e-mail: the main headers, the text, and the names of the attachments. */
import type { Converter } from './converter.ts';
import { createOutput } from './converter.ts';
import { heading, markdownOf, plain } from './markdown.ts';

/** The parts of a message, the same for all formats of e-mail. */
export interface Message {
  readonly subject: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly text: string | undefined;
  readonly html: string | undefined;
  readonly attachments: readonly string[];
}

export const email: Converter = {
  name: 'email',
  from: ['message/rfc822'],
  to: ['text/markdown'],
  async convert(bytes, conversion) {
    const { default: PostalMime } = await import('postal-mime');
    const mail = await PostalMime.parse(bytes, { maxNestingDepth: 32, maxHeadersSize: 256 * 1024 });
    const names = (list: readonly Address[] | undefined): string => (list ?? []).map(nameOf).join(', ');
    return messageText(
      {
        subject: mail.subject ?? '',
        headers: [
          ['From', names(mail.from === undefined ? [] : [mail.from])],
          ['To', names(mail.to)],
          ['Cc', names(mail.cc)],
          ['Date', mail.date ?? ''],
        ],
        text: mail.text,
        html: mail.html,
        attachments: mail.attachments.map(
          ({ filename, mimeType, content }) =>
            `${filename ?? 'unnamed'} (${mimeType}, ${typeof content === 'string' ? content.length : content.byteLength} bytes)`,
        ),
      },
      conversion,
    );
  },
};

interface Address {
  readonly name?: string | undefined;
  readonly address?: string | undefined;
  readonly group?: readonly Address[] | undefined;
}

const nameOf = ({ name, address, group }: Address): string =>
  group !== undefined
    ? `${name}: ${group.map(nameOf).join(', ')}`
    : [name, address && (name ? `(${address})` : address)].filter(Boolean).join(' ');

/** Writes a message as Markdown. Its plain text is preferred to its HTML. */
export async function messageText(message: Message, limits: { readonly maxOutputBytes: number }): Promise<string> {
  const { subject, headers, text, html, attachments } = message;
  const output = createOutput(limits);
  const line = (value: string): string => plain(value.replace(/\s+/g, ' ').trim());
  output.add(heading(1, line(subject) || '(no subject)'));
  for (const [name, value] of headers) if (value.trim() !== '') output.add(`- ${name}: ${line(value)}\n`);
  output.add('\n');
  if (text !== undefined && text.trim() !== '') output.add(`${text.replace(/\r\n/g, '\n').trim()}\n`);
  else if (html !== undefined) output.add(await markdownOf(html, limits));
  if (attachments.length > 0)
    output.add(`\n${heading(2, 'Attachments')}${attachments.map((attachment) => `- ${line(attachment)}\n`).join('')}`);
  return output.text();
}
