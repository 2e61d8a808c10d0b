/** Reads from the header of an MPEG-4 file how long and how large its picture is, also where the file has no sound. */

export interface Mp4Header {
  readonly seconds?: number | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** Boxes that are looked at: there are some twenty in a header, and a file may have as many as it likes behind it. */
const MAX_BOXES = 10_000;

interface Box {
  readonly name: string;
  readonly data: DataView;
}

/** ISO/IEC 14496-12, 8.2 and 8.3. Nothing of what is no such file, or is cut off. */
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

const find = (within: DataView, wanted: string): DataView | undefined => {
  for (const { name, data } of boxesIn(within)) if (name === wanted) return data;
  return undefined;
};

function* boxesIn(within: DataView): Generator<Box> {
  let at = 0;
  for (let count = 0; count < MAX_BOXES && at + 8 <= within.byteLength; count++) {
    const said = within.getUint32(at);
    const isLong = said === 1 && at + 16 <= within.byteLength;
    const size = isLong ? Number(within.getBigUint64(at + 8)) : said === 0 ? within.byteLength - at : said;
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

/** The size that the track is shown in, which is the last thing in its header; a sound has none. */
function sizeIn(data: DataView | undefined): { readonly width: number; readonly height: number } {
  if (data === undefined || data.byteLength < 84) return { width: 0, height: 0 };
  const end = data.byteLength;
  return { width: data.getUint16(end - 8), height: data.getUint16(end - 4) };
}
