/** Shows text and code, with highlighting for known languages. The library returns a tree, not markup, and elements are made of it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Tree } from './highlight.ts';
import { languageOf } from './looks.ts';
import { PlainText, visible } from './plain-text.tsx';
import type { PreviewProps } from './props.ts';

/** The most characters of a text that is highlighted. A longer text would block the page. */
const MAX_HIGHLIGHTED = 48 * 1024;

export default function Text({ thing }: PreviewProps) {
  const language = languageOf(thing.resource.uri, thing.type);
  const text = thing.text ?? '';
  return language === undefined ? <PlainText text={text} /> : <Code text={text} language={language} />;
}

interface CodeProps {
  readonly text: string;
  readonly language: string;
}

export function Code({ text, language }: CodeProps) {
  const [drawn, setDrawn] = useState<{ readonly of: string; readonly nodes: ComponentChildren }>();
  useEffect(() => {
    if (text.length > MAX_HIGHLIGHTED) return;
    let gone = false;
    import('./highlight.ts').then(
      ({ highlight }) => {
        const tree = highlight(visible(text), language);
        if (!gone && tree !== undefined) setDrawn({ of: text, nodes: nodesOf(tree.children) });
      },
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [text, language]);
  if (drawn?.of !== text) return <PlainText text={text} />;
  return (
    <pre dir="ltr" class="code">
      {drawn.nodes}
    </pre>
  );
}

type Node = Tree['children'][number];

const nodesOf = (children: readonly Node[]): ComponentChildren =>
  children.map((child) => {
    if (child.type === 'text') return child.value;
    if (child.type !== 'element') return undefined;
    const { className } = child.properties;
    return <span class={Array.isArray(className) ? className.join(' ') : ''}>{nodesOf(child.children)}</span>;
  });
