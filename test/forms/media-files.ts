/** Images, sounds and films with the given contents, as small as possible. */
import { deflateSync } from 'node:zlib';

const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const CRC = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  return c;
});

const crc = (bytes: Uint8Array): number =>
  ~bytes.reduce((sum, byte) => (CRC[(sum ^ byte) & 0xff] ?? 0) ^ (sum >>> 8), -1) >>> 0;

function chunk(name: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name), data]);
  return Buffer.concat([u32(data.byteLength), body, u32(crc(body))]);
}

/** A PNG whose header has this size, whatever its rows are. */
export function png(
  width: number,
  height: number,
  rows: Uint8Array,
  { interlaced = false, exif = new Uint8Array() }: { interlaced?: boolean; exif?: Uint8Array } = {},
) {
  const header = Buffer.concat([u32(width), u32(height), Buffer.from([8, 2, 0, 0, interlaced ? 1 : 0])]);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    ...(exif.byteLength > 0 ? [chunk('eXIf', exif)] : []),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', Buffer.of()),
  ]);
}

/** Frames of MPEG 1, layer III: 128 kbit/s at 44.1 kHz, 26 ms each. */
const mpegFrames = (count: number): Buffer =>
  Buffer.concat(
    Array.from({ length: count }, () => Buffer.concat([Buffer.from('fffb9064', 'hex'), Buffer.alloc(413)])),
  );

const frame = (id: string, data: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(id), u32(data.byteLength), u16(0), data]);

const latin = (text: string): Buffer => Buffer.concat([Buffer.of(0), Buffer.from(text, 'latin1')]);

export const textFrame = (id: string, text: string): Buffer => frame(id, latin(text));

export const coverFrame = (image: Uint8Array): Buffer =>
  frame('APIC', Buffer.concat([latin('image/png\0'), Buffer.from([3, 0]), image]));

export const chapterFrame = (id: string, startMs: number, title: string): Buffer =>
  frame(
    'CHAP',
    Buffer.concat([
      Buffer.from(`${id}\0`),
      u32(startMs),
      u32(startMs + 1_000),
      u32(0xffffffff),
      u32(0xffffffff),
      textFrame('TIT2', title),
    ]),
  );

/** Seven bits of each byte, as ID3 writes the size of its tags. */
const synchsafe = (size: number): Buffer => Buffer.from([21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f));

export function mp3(frames: readonly Uint8Array[], says?: number): Buffer {
  const tags = Buffer.concat(frames);
  return Buffer.concat([
    Buffer.from('ID3\x03\0\0', 'latin1'),
    synchsafe(says ?? tags.byteLength),
    tags,
    mpegFrames(40),
  ]);
}

export const box = (name: string, ...parts: readonly Uint8Array[]): Buffer => {
  const data = Buffer.concat(parts);
  return Buffer.concat([u32(data.byteLength + 8), Buffer.from(name, 'latin1'), data]);
};

const version = (flags = 0): Buffer => u32(flags);

/** An item of the metadata that players show. */
const item = (name: string, text: string): Buffer => box(name, box('data', u32(1), u32(0), Buffer.from(text)));

/** 12.5 seconds without a picture. */
export function mp4(title: string): Buffer {
  const times = Buffer.concat([u32(0), u32(0), u32(1_000), u32(12_500)]);
  const entry = box('avc1', Buffer.alloc(6), u16(1), Buffer.alloc(16), u16(640), u16(360), Buffer.alloc(50));
  const table = box('stbl', box('stsd', version(), u32(1), entry));
  const handler = box('hdlr', version(), u32(0), Buffer.from('vide'), Buffer.alloc(13));
  const media = box('mdia', box('mdhd', version(), times, u32(0)), handler, box('minf', table));
  const track = box('trak', box('tkhd', version(7), Buffer.alloc(72), u16(640), u16(0), u16(360), u16(0)), media);
  const metaHandler = box('hdlr', version(), u32(0), Buffer.from('mdirappl'), Buffer.alloc(9));
  const tags = box('udta', box('meta', version(), metaHandler, box('ilst', item('\xa9nam', title))));
  return Buffer.concat([
    box('ftyp', Buffer.from('isom'), u32(512), Buffer.from('isomavc1')),
    box('moov', box('mvhd', version(), times, Buffer.alloc(80)), track, tags),
    box('mdat', Buffer.alloc(8)),
  ]);
}

const element = (id: string, ...parts: readonly Uint8Array[]): Buffer => {
  const data = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(id, 'hex'), Buffer.from([0x01, 0, 0, 0]), u32(data.byteLength), data]);
};

const float = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
};

/** 3 seconds without a picture or sound. */
export function webm(title: string): Buffer {
  const info = element(
    '1549a966',
    element('2ad7b1', u32(1_000_000)),
    element('4489', float(3_000)),
    element('7ba9', Buffer.from(title)),
  );
  const video = element(
    'ae',
    element('d7', Buffer.of(1)),
    element('83', Buffer.of(1)),
    element('86', Buffer.from('V_VP9')),
    element('e0', element('b0', u16(640)), element('ba', u16(360))),
  );
  const audio = element(
    'ae',
    element('d7', Buffer.of(2)),
    element('83', Buffer.of(2)),
    element('86', Buffer.from('A_OPUS')),
    element('e1', element('9f', Buffer.of(2)), element('b5', float(48_000))),
  );
  return Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('webm'))),
    element('18538067', info, element('1654ae6b', video, audio)),
  ]);
}

/** EXIF data with this number of entries, each of which claims all bytes after the entries as its text. */
export function endlessExif(entries: number, bytes: number): Buffer {
  const directory = Buffer.alloc(8 + 2 + entries * 12 + 4);
  directory.write('MM\0*', 'latin1');
  directory.writeUInt32BE(8, 4);
  directory.writeUInt16BE(entries, 8);
  for (let n = 0; n < entries; n++) {
    const at = 10 + n * 12;
    directory.writeUInt16BE(n, at);
    directory.writeUInt16BE(2, at + 2);
    directory.writeUInt32BE(bytes, at + 4);
    directory.writeUInt32BE(directory.byteLength, at + 8);
  }
  return Buffer.concat([directory, Buffer.alloc(bytes, 'x')]);
}
