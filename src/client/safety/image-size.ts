/** Reads width and height from the header of an image, so that a small file that unpacks to gigabytes is not decoded. */

export interface ImageSize {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** The most segments of a JPEG that are looked at before its frame. */
const MAX_SEGMENTS = 1_000;

/** Returns the size of a PNG, JPEG, GIF or WebP; undefined for another type, and if the header does not give the size. */
export function imageSize(mimeType: string, bytes: Uint8Array): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    switch (mimeType) {
      case 'image/png':
        return { width: view.getUint32(16), height: view.getUint32(20) };
      case 'image/gif':
        return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
      case 'image/jpeg':
        return jpegSize(view);
      case 'image/webp':
        return webpSize(view);
      default:
        return undefined;
    }
  } catch {
    // The file is shorter than its header.
    return undefined;
  }
}

function jpegSize(view: DataView): ImageSize | undefined {
  let at = 2;
  for (let segments = 0; segments < MAX_SEGMENTS; segments++) {
    while (view.getUint8(at) === 0xff && view.getUint8(at + 1) === 0xff) at++;
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    // A marker from C0 to CF starts a frame, except for C4, C8 and CC.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

function webpSize(view: DataView): ImageSize | undefined {
  switch (view.getUint32(12)) {
    case 0x56_50_38_58: // VP8X: width and height, each less one, in 24 bits
      return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
    case 0x56_50_38_4c: {
      // VP8L: width and height, each less one, in 14 bits
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 0x56_50_38_20: // VP8: width and height, in 14 bits each, after the start code
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    default:
      return undefined;
  }
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) + view.getUint8(at + 2) * 65_536;
}
