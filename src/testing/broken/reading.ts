/** Providers whose `read` is wrong. */
import { bytesOf } from '../../core/body.ts';
import { ResourceError } from '../../core/errors.ts';
import { type Broken, bytesIn, featuring, like, reading } from './broken.ts';

export const BROKEN_READS: readonly Broken[] = [
  {
    defect: 'drops the last byte',
    law: 'a read of a leaf gives its bytes',
    says: /The bytes of/,
    break: (inner) => reading(inner, (body) => ({ ...body, content: bytesOf(bytesIn(body).slice(0, -1)) })),
  },
  {
    defect: 'reads without capabilities',
    law: 'a body describes its resource',
    says: /capabilities/,
    break: (inner) =>
      reading(inner, (body) => {
        const { capabilities: _, ...resource } = body.resource;
        return { ...body, resource };
      }),
  },
  {
    defect: 'does not mark children',
    law: 'a read of a container gives direct children',
    says: /A child is not marked/,
    break: (inner) => reading(inner, ({ child: _, ...body }) => body),
  },
  {
    defect: 'cuts children short',
    law: 'a read of a container gives direct children',
    says: /Expected values to be strictly deep-equal/,
    break: (inner) =>
      reading(inner, (body) => (body.child ? { ...body, content: bytesOf(bytesIn(body).slice(0, 3)) } : body)),
  },
  {
    defect: 'gives more children than allowed',
    law: 'a read of a container stays within',
    says: /children, where 1 were allowed/,
    break: (inner) => like(inner, { read: (uri, want, ctx) => inner.read(uri, { ...want, maxChildren: 1_000 }, ctx) }),
  },
  {
    defect: 'gives more bytes than allowed',
    law: 'a read of a container stays within',
    says: /bytes of children, where/,
    break: (inner) => like(inner, { read: (uri, want, ctx) => inner.read(uri, { ...want, maxBytes: 1e9 }, ctx) }),
  },
  {
    defect: 'fails when a body is closed twice',
    law: 'bodies can be closed unread',
    says: /closed already/,
    break: (inner) =>
      reading(inner, (body) => {
        let closed = false;
        return {
          ...body,
          async close() {
            if (closed) throw new Error('closed already');
            closed = true;
          },
        };
      }),
  },
  {
    defect: 'cannot be read again after a stream was left',
    law: 'a stream may be left in the middle',
    says: /busy/,
    break(inner) {
      let busy = false;
      return reading(inner, (body) => {
        if (busy) throw new ResourceError('unavailable', 'busy');
        busy = true;
        return body;
      });
    },
  },
  {
    defect: 'goes on with a stream for a caller that has gone',
    law: 'an aborted signal stops a stream',
    says: /went on to its end/,
    break: (inner) =>
      reading(inner, (body) => ({
        ...body,
        content: {
          kind: 'stream',
          async *open() {
            for (let at = 0; at < bytesIn(body).byteLength; at += 100_000) yield bytesIn(body).slice(at, at + 100_000);
          },
        },
      })),
  },
  {
    defect: 'begins a window one byte late',
    law: 'every window of a small leaf',
    says: /The window of/,
    break: (inner) =>
      reading(inner, (body) => (body.window ? { ...body, content: bytesOf(bytesIn(body).slice(1)) } : body)),
  },
  {
    defect: 'does not give the total size of a window',
    law: 'windows of a large leaf',
    says: /has the wrong total/,
    break: (inner) =>
      reading(inner, (body) => (body.window ? { ...body, window: { offset: body.window.offset } } : body)),
  },
  {
    defect: 'gives an empty window after the end',
    law: 'a window that begins at the end',
    says: /was not refused/,
    break: (inner) =>
      like(inner, {
        read: (uri, want, ctx) =>
          inner
            .read(uri, want, ctx)
            .catch(async () => [{ resource: await inner.metadata(uri, ctx), content: bytesOf(new Uint8Array()) }]),
      }),
  },
  {
    defect: 'gives windows of containers',
    law: 'a container has no bytes',
    says: /A window of a container was not refused/,
    break: (inner) => like(inner, { read: (uri, want, ctx) => inner.read(uri, { ...want, range: undefined }, ctx) }),
  },
  {
    defect: 'declares that it has no windows, and gives wrong ones',
    law: 'every window of a small leaf',
    says: /The bytes of/,
    break: (inner) =>
      featuring(
        reading(inner, (body) => (body.window ? { ...body, content: bytesOf(bytesIn(body).slice(1)) } : body)),
        { ranges: false },
      ),
  },
];
