/**
 * Renders Markdown as elements, from the tokens of a library. HTML is shown as text, and images are not loaded. A relative link
 * leads to a place in the explorer; a link to the web is marked as external.
 */
import { lexer, type Token, type Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { isWebAddress } from '../../core/icons.ts';
import { Link } from '../panes/link.tsx';
import { visible } from './plain-text.tsx';
import type { PreviewProps } from './props.ts';
import { resolved } from './reference.ts';
import { Code } from './text.tsx';

/** The most levels of lists, quotes and emphasis that are drawn. */
const MAX_DEPTH = 32;

export default function Markdown({ thing: { text = '', resource } }: PreviewProps) {
  return (
    <div class="prose" dir="auto">
      {blocks(lexer(text.replace(/^---\n[\s\S]*?\n---\n/, '')), resource.uri, 0)}
    </div>
  );
}

const blocks = (tokens: readonly Token[] | undefined, base: string, depth: number): ComponentChildren =>
  depth > MAX_DEPTH ? undefined : tokens?.map((token) => block(token as Tokens.Generic, base, depth + 1));

const HEADINGS = ['h2', 'h3', 'h4', 'h5', 'h6', 'h6'] as const;

function block(token: Tokens.Generic, base: string, depth: number): ComponentChildren {
  const inside = (): ComponentChildren => blocks(token.tokens, base, depth);
  switch (token.type) {
    case 'heading': {
      const Heading = HEADINGS[token.depth - 1] ?? 'h6';
      return <Heading>{inside()}</Heading>;
    }
    case 'paragraph':
      return <p>{inside()}</p>;
    case 'text':
      return token.tokens === undefined ? unescaped(visible(token.text)) : inside();
    case 'escape':
      return unescaped(visible(token.text));
    case 'strong':
      return <strong>{inside()}</strong>;
    case 'em':
      return <em>{inside()}</em>;
    case 'del':
      return <del>{inside()}</del>;
    case 'codespan':
      return <code>{visible(token.text)}</code>;
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'blockquote':
      return <blockquote>{inside()}</blockquote>;
    case 'code':
      return <Code text={token.text} language={String(token.lang ?? '').split(/\s/, 1)[0] ?? ''} />;
    case 'list': {
      const items = (token as Tokens.List).items.map((item) => (
        <li>
          {item.task && <input type="checkbox" checked={item.checked === true} disabled />}
          {blocks(item.tokens, base, depth)}
        </li>
      ));
      return token.ordered === true ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
    }
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return (
        <div class="scrolls">
          <table>
            <thead>
              <tr>
                {header.map((each) => (
                  <th scope="col">{blocks(each.tokens, base, depth)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr>
                  {row.map((each) => (
                    <td>{blocks(each.tokens, base, depth)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    }
    case 'link':
      return <Reference href={token.href} base={base} inside={inside()} />;
    case 'image':
      return (
        <Reference
          href={token.href}
          base={base}
          inside={<span class="picture">{visible(token.text || token.href)}</span>}
        />
      );
    case 'html': {
      const [, comment] = /^\s*<!--(.*?)-->\s*$/s.exec(token.raw) ?? [];
      if (comment !== undefined) return <small class="soft aside">{visible(comment.trim())}</small>;
      return token.block === true ? <pre>{visible(token.raw)}</pre> : <code>{visible(token.raw)}</code>;
    }
    default:
      return undefined;
  }
}

/** The entities that the library writes into texts, and the characters that they stand for. */
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

const unescaped = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|quot|#39);/g, (found) => ENTITIES[found] ?? found);

interface ReferenceProps {
  readonly href: string;
  readonly base: string;
  readonly inside: ComponentChildren;
}

/**
 * Shows a link. A relative link opens a place in the explorer, and a link to the web opens a new page, which does not learn the
 * address of this one. Any other link is shown as text.
 */
function Reference({ href, base, inside }: ReferenceProps) {
  if (isWebAddress(href))
    return (
      <a href={href} target="_blank" rel="noopener noreferrer external" title={href}>
        {inside}
      </a>
    );
  const uri = resolved(href, base);
  return uri === undefined ? <span title={href}>{inside}</span> : <Link to={{ kind: 'resource', uri }}>{inside}</Link>;
}
