/** Reads the length and the size of the picture from the header of an MPEG-4 file, with or without sound. */

/** Facts from the header of a film: its length in seconds, and the size of its picture in pixels. */
export interface Mp4Header {
  readonly seconds?: number | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** The most boxes that are read on one level. A header has about twenty; a hostile file may have millions. */
const MAX_BOXES = 10_000;

interface Box {
  readonly name: string;
  readonly data: DataView;
}

/** Implements ISO/IEC 14496-12, 8.2 and 8.3. Returns no facts for any other file, or for one that is cut off. */
export function readMp4Header(bytes: Uint8Array): Mp4Header {
  const movie = find(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 'moov');
  if (movie === undefined) return {};
  let header: Mp4Header = {};
  for (const { name, data } of boxesIn(movie)) {
    if (name === 'mvhd') header = { ...header, seconds: secondsIn(data) };
    if (name !== 'trak') continue;
    const { width, height } = sizeIn(find(data, 'tkhd'));
    if (width * height > (header.width ?? 0) * (header.height ?? 0)) header = { ...header, width, height };
  }
  return header;
}

/** Returns the content of the first box with a name. */
const find = (within: DataView, wanted: string): DataView | undefined => {
  for (const { name, data } of boxesIn(within)) if (name === wanted) return data;
  return undefined;
};

function* boxesIn(within: DataView): Generator<Box> {
  let at = 0;
  for (let count = 0; count < MAX_BOXES && at + 8 <= within.byteLength; count++) {
    // A size of 1 means that a size of 64 bits follows the name. A size of 0 means that the box reaches to the end.
    const shortSize = within.getUint32(at);
    const isLong = shortSize === 1 && at + 16 <= within.byteLength;
    const size = isLong ? Number(within.getBigUint64(at + 8)) : shortSize === 0 ? within.byteLength - at : shortSize;
    const head = isLong ? 16 : 8;
    if (size < head || at + size > within.byteLength) return;
    const name = String.fromCharCode(...[4, 5, 6, 7].map((place) => within.getUint8(at + place)));
    yield { name, data: new DataView(within.buffer, within.byteOffset + at + head, size - head) };
    at += size;
  }
}

function secondsIn(data: DataView): number | undefined {
  const isLong = data.byteLength > 0 && data.getUint8(0) === 1;
  if (data.byteLength < (isLong ? 32 : 20)) return undefined;
  const scale = data.getUint32(isLong ? 20 : 12);
  const duration = isLong ? Number(data.getBigUint64(24)) : data.getUint32(16);
  return scale === 0 || duration === 0 ? undefined : duration / scale;
}

/** Returns the size in which a track is shown, from the last eight bytes of its header. The size of a track of sound is 0. */
function sizeIn(data: DataView | undefined): { readonly width: number; readonly height: number } {
  if (data === undefined || data.byteLength < 84) return { width: 0, height: 0 };
  const end = data.byteLength;
  return { width: data.getUint16(end - 8), height: data.getUint16(end - 4) };
}
