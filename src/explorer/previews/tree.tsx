/** Shows JSON and YAML as a tree. */
import { useEffect, useState } from 'preact/hooks';
import { PlainText } from './plain-text.tsx';
import type { PreviewProps } from './props.ts';
import { Value } from './value.tsx';

export default function Tree({ thing: { text = '', type } }: PreviewProps) {
  const [read, setRead] = useState<{ readonly of: string; readonly value: unknown }>();
  useEffect(() => {
    let gone = false;
    parsed(text, type).then(
      (value) => !gone && setRead({ of: text, value }),
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [text, type]);
  if (read?.of !== text) return <PlainText text={text} />;
  return (
    <div class="tree" dir="ltr">
      <Value value={read.value} level={0} />
    </div>
  );
}

async function parsed(text: string, type: string): Promise<unknown> {
  if (/json$/.test(type)) return JSON.parse(text);
  const { parse } = await import('yaml');
  return parse(text, { maxAliasCount: 100, schema: 'core' });
}
