/** Shows the content blocks of a tool's result or of a prompt's messages. */
import { essenceOf } from '../../core/formats/formats.ts';
import { isFolder, kindOf } from '../../frontends/explorer/kinds.ts';
import type { ContentBlock } from '../../protocol/content.ts';
import type { Resource } from '../../protocol/resources.ts';
import { Link } from '../panes/link.tsx';
import { lookOf } from '../previews/looks.ts';
import { PlainText } from '../previews/plain-text.tsx';
import { Preview } from '../previews/preview.tsx';
import { bytesOf, type Thing } from '../state/reading.ts';

/** The most blocks that are shown. */
const MAX_BLOCKS = 200;

export const Blocks = ({ blocks }: { readonly blocks: readonly ContentBlock[] }) => (
  <>
    {blocks.slice(0, MAX_BLOCKS).map((block, at) => (
      <div class="block" key={at}>
        <Block block={block} />
      </div>
    ))}
  </>
);

function Block({ block }: { readonly block: ContentBlock }) {
  switch (block.type) {
    case 'text':
      return <PlainText text={block.text} />;
    case 'image':
    case 'audio':
      return <Preview thing={thingOf({ uri: '', name: block.type, mimeType: block.mimeType, blob: block.data })} />;
    case 'resource_link':
      return <To resource={block} />;
    case 'resource':
      return (
        <>
          <To resource={block.resource} />
          <Preview thing={thingOf(block.resource)} />
        </>
      );
    default:
      return <PlainText text={JSON.stringify(block, null, 2)} />;
  }
}

const To = ({ resource }: { readonly resource: Resource }) => (
  <p>
    <Link
      class={`k k-${isFolder(resource) ? 'folder' : kindOf(resource)}`}
      to={{ kind: 'resource', uri: resource.uri.replace(/#L\d+(?:-L\d+)?$/, '') }}
    >
      <bdi>{resource.title ?? resource.name}</bdi>
    </Link>{' '}
    <code class="soft">{resource.uri}</code>
  </p>
);

function thingOf(item: Thing['item']): Thing {
  const type = essenceOf(item.mimeType);
  const text = 'text' in item ? item.text : undefined;
  const bytes = 'blob' in item ? bytesOf(item.blob) : undefined;
  const look = lookOf(type, undefined);
  const isPicture = look === 'image' || look === 'audio' || look === 'video';
  const fits = text === undefined ? isPicture : !isPicture && look !== 'hex';
  return {
    resource: item,
    item,
    type,
    text,
    bytes,
    window: undefined,
    look: fits ? look : text === undefined ? 'hex' : 'text',
  };
}
