/** Prints content blocks of tools and prompts for people. */
import { base64Size } from '../../../client/base64.ts';
import { imageEscape } from './images.ts';
import { jsonText, type Output, safe, safeLines, valueText } from './output.ts';

type Data = Readonly<Record<string, unknown>>;

/** Prints a block: text as lines, an image as a picture if the terminal can show it, a link as one line, other types as JSON. */
export async function printBlock(block: unknown, output: Output): Promise<void> {
  const { type, text, data, mimeType, resource } = (block ?? {}) as Data;
  switch (type) {
    case 'text':
      return lines(typeof text === 'string' ? text : '', output);
    case 'image':
    case 'audio':
      return media(valueText(mimeType ?? type), typeof data === 'string' ? data : '', output);
    case 'resource_link':
      return output.line(linkText(block as Data, output));
    case 'resource':
      return embedded((resource ?? {}) as Data, output);
    default:
      return output.line(safe(jsonText(block)));
  }
}

async function lines(text: string, output: Output): Promise<void> {
  const shown = safeLines(text);
  await output.write(shown.endsWith('\n') ? shown : `${shown}\n`);
}

async function media(mimeType: string, data: string, output: Output): Promise<void> {
  const sequence = output.terminal ? await imageEscape({ mimeType, data }, process.env) : undefined;
  if (sequence !== undefined) await output.write(sequence);
  else await output.line(output.paint('dim', `[${safe(mimeType)}, ${base64Size(data)} bytes; --json has them]`));
}

function linkText({ uri, name, description }: Data, output: Output): string {
  const label = typeof name === 'string' && name !== '' ? `  ${safe(name)}` : '';
  const about = typeof description === 'string' ? `  ${output.paint('dim', safe(description))}` : '';
  return `${output.paint('cyan', safe(valueText(uri ?? '')))}${label}${about}`;
}

async function embedded({ uri, mimeType, text, blob }: Data, output: Output): Promise<void> {
  const type = typeof mimeType === 'string' ? `  ${output.paint('dim', safe(mimeType))}` : '';
  await output.line(`${output.paint('cyan', safe(valueText(uri ?? '')))}${type}`);
  if (typeof text === 'string') await lines(text, output);
  else if (typeof blob === 'string') await media(valueText(mimeType ?? 'application/octet-stream'), blob, output);
}
