/** All converters. If two of them can do a conversion, the first one does it. */
import type { Converter } from './converter.ts';
import { csv } from './csv.ts';
import { docx } from './docx.ts';
import { email } from './email.ts';
import { epub } from './epub.ts';
import { html } from './html.ts';
import { notebook } from './notebook.ts';
import { openDocument } from './open-document.ts';
import { outlook } from './outlook.ts';
import { pdf } from './pdf.ts';
import { media, rtf } from './plugged.ts';
import { pptx } from './pptx.ts';
import { spreadsheet } from './spreadsheet.ts';
import { utf8 } from './utf8.ts';

export const CONVERTERS: readonly Converter[] = [
  pdf,
  docx,
  spreadsheet,
  pptx,
  openDocument,
  epub,
  html,
  rtf,
  notebook,
  email,
  outlook,
  csv,
  ...media,
  utf8,
];
