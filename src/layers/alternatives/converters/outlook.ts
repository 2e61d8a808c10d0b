/** Converts messages saved by Outlook. */
import type { Converter } from './converter.ts';
import { messageText } from './email.ts';

export const outlook: Converter = {
  name: 'outlook',
  from: ['application/vnd.ms-outlook'],
  to: ['text/markdown'],
  async convert(bytes, conversion) {
    const { default: loaded } = await import('@kenjiuno/msgreader');
    const Reader = readerIn(loaded);
    const mail = new Reader(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)).getFileData();
    if (mail.error !== undefined) throw new Error(mail.error);
    const name = (who: string | undefined, address: string | undefined): string =>
      [who, address === undefined || address === who ? undefined : `(${address})`].filter(Boolean).join(' ');
    return messageText(
      {
        subject: mail.subject ?? '',
        headers: [
          ['From', name(mail.senderName, mail.senderSmtpAddress ?? mail.senderEmail)],
          ['To', (mail.recipients ?? []).map((each) => name(each.name, each.smtpAddress ?? each.email)).join(', ')],
          ['Date', mail.messageDeliveryTime ?? mail.clientSubmitTime ?? ''],
        ],
        text: mail.body,
        html: typeof mail.bodyHtml === 'string' ? mail.bodyHtml : undefined,
        attachments: (mail.attachments ?? []).map(
          ({ fileName, name: title, contentLength }) =>
            `${fileName ?? title ?? 'unnamed'}${contentLength === undefined ? '' : ` (${contentLength} bytes)`}`,
        ),
      },
      conversion,
    );
  },
};

type Reader = new (
  data: DataView,
) => {
  getFileData(): {
    readonly error?: string;
    readonly subject?: string;
    readonly body?: string;
    readonly bodyHtml?: string;
    readonly senderName?: string;
    readonly senderEmail?: string;
    readonly senderSmtpAddress?: string;
    readonly messageDeliveryTime?: string;
    readonly clientSubmitTime?: string;
    readonly recipients?: readonly { readonly name?: string; readonly email?: string; readonly smtpAddress?: string }[];
    readonly attachments?: readonly {
      readonly fileName?: string;
      readonly name?: string;
      readonly contentLength?: number;
    }[];
  };
};

/** The module is CommonJS with its own default, which Node nests inside the module's default. */
function readerIn(loaded: unknown): Reader {
  const inner = (loaded as { readonly default?: unknown }).default;
  return (inner ?? loaded) as Reader;
}
