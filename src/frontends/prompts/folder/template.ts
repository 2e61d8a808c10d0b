/**
 * The body of a prompt's file, parsed once into nodes. Values are inserted into nodes and never parsed: `{{` or a role
 * marker in a value is plain text (SEC-PROMPT-1).
 */

import { LineFault } from '../../../core/front-matter.ts';
import { parseUriTemplate, type UriTemplate, UriTemplateError } from '../../../core/uri-template.ts';

export type Role = 'user' | 'assistant';

export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  /** `{{name}}` */
  | { readonly kind: 'argument'; readonly name: string }
  /** `{{resource uri}}`, where the URI is a template over the arguments. */
  | { readonly kind: 'resource'; readonly uri: UriTemplate }
  /** `<!-- assistant -->` or `<!-- user -->` on its own line: the role of the following text. */
  | { readonly kind: 'role'; readonly role: Role };

export const MAX_NODES = 200;
export const MAX_EMBEDS = 50;

const ROLE = /^\s*<!--\s*(assistant|user)\s*-->\s*$/;
const RESOURCE = /^resource\s+(\S.*)$/;

/**
 * @param names the declared arguments
 * @param before the number of lines in the file before the body
 * @throws LineFault
 */
export function parseTemplate(body: string, names: ReadonlySet<string>, before: number): readonly TemplateNode[] {
  const nodes: TemplateNode[] = [];
  let text = '';

  function add(node: TemplateNode, line: number): void {
    if (text !== '') nodes.push({ kind: 'text', text });
    text = '';
    nodes.push(node);
    if (nodes.length > MAX_NODES) throw new LineFault(`a prompt has at most ${MAX_NODES} parts; split it`, line);
    if (node.kind === 'resource' && nodes.filter((each) => each.kind === 'resource').length > MAX_EMBEDS)
      throw new LineFault(`a prompt embeds at most ${MAX_EMBEDS} resources`, line);
  }

  function addLine(source: string, line: number): void {
    let at = 0;
    for (let open = source.indexOf('{{'); open !== -1; open = source.indexOf('{{', at)) {
      if (open > at && source[open - 1] === '\\') {
        text += `${source.slice(at, open - 1)}{{`;
        at = open + 2;
        continue;
      }
      text += source.slice(at, open);
      const close = closing(source, open + 2);
      if (close === undefined)
        throw new LineFault('"{{" is not closed on its line; write \\{{ for the two characters', line);
      add(expression(source.slice(open + 2, close).trim(), names, line), line);
      at = close + 2;
    }
    text += source.slice(at);
  }

  for (const [index, source] of body.split('\n').entries()) {
    const line = before + index + 1;
    const role = ROLE.exec(source)?.[1];
    if (role === 'user' || role === 'assistant') {
      add({ kind: 'role', role }, line);
      continue;
    }
    addLine(source, line);
    text += '\n';
  }
  if (text !== '') nodes.push({ kind: 'text', text });
  if (nodes.every((node) => node.kind === 'role' || (node.kind === 'text' && node.text.trim() === '')))
    throw new LineFault('the prompt is empty: it has no text below its front matter', before + 1);
  return nodes;
}

/** Finds the `}}` of an expression; braces of a URI template inside it come in pairs. */
function closing(source: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < source.length; at++) {
    if (source[at] === '{') depth++;
    else if (source[at] === '}' && depth > 0) depth--;
    else if (source[at] === '}' && source[at + 1] === '}') return at;
  }
  return undefined;
}

function expression(content: string, names: ReadonlySet<string>, line: number): TemplateNode {
  const template = RESOURCE.exec(content)?.[1];
  if (template === undefined) {
    if (!names.has(content)) throw unknown(content, names, line);
    return { kind: 'argument', name: content };
  }
  let uri: UriTemplate;
  try {
    uri = parseUriTemplate(template);
  } catch (error) {
    if (error instanceof UriTemplateError) throw new LineFault(error.message, line);
    throw error;
  }
  const missing = uri.variables.find((name) => !names.has(name));
  if (missing !== undefined) throw unknown(missing, names, line);
  return { kind: 'resource', uri };
}

function unknown(name: string, names: ReadonlySet<string>, line: number): LineFault {
  const declared = names.size === 0 ? 'it declares none' : `it declares ${[...names].join(', ')}`;
  return new LineFault(`${JSON.stringify(name)} is not an argument of this prompt; ${declared}`, line);
}
