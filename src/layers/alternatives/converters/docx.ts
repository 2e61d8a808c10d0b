/** Converts Word documents: their styles become headings, lists, tables and text. */
import { repacked } from './archive.ts';
import type { Converter } from './converter.ts';
import { markdownOf } from './markdown.ts';

export const docx: Converter = {
  name: 'docx',
  from: [
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.template',
    'application/vnd.ms-word.document.macroenabled.12',
  ],
  to: ['text/markdown'],
  async convert(bytes, conversion) {
    const { default: mammoth } = await import('mammoth');
    const buffer = Buffer.from(await repacked(bytes, conversion));
    const { value } = await mammoth.convertToHtml(
      { buffer },
      { convertImage: mammoth.images.imgElement(async () => ({ src: '' })), externalFileAccess: false },
    );
    return markdownOf(value, conversion);
  },
};
