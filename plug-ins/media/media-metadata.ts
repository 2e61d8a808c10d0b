/** Tells the length, tracks, chapters and tags of a sound or a film. */
import type { ICommonTagsResult, IFormat } from 'music-metadata';
import type { Convert } from 'vitrine/plug-in';
import { type Fact, type Facts, factsText } from './facts.ts';
import { readMp4Header } from './mp4-header.ts';

/** Writes facts about a sound or film as JSON or Markdown. @throws Error for a file that cannot be read */
export const mediaMetadata: Convert = async (bytes, conversion) => {
  const { parseBuffer } = await import('music-metadata');
  const info = { mimeType: conversion.from, size: bytes.byteLength };
  const { format, common } = await parseBuffer(bytes, info, { duration: true, includeChapters: true });
  const { picture = [], ...tags } = common;
  // The library reads sounds: it knows neither the length nor the size of an MPEG-4 film without sound.
  const { seconds, width, height } = readMp4Header(bytes);
  const facts = {
    width,
    height,
    ...formatFacts({ ...format, duration: format.duration ?? seconds }),
    bytes: bytes.byteLength,
    covers: picture.length === 0 ? undefined : picture.length,
    tags: tagFacts(tags),
    tracks: format.trackInfo.map(trackFacts),
    chapters: chapterFacts(format),
  };
  return factsText(conversion.from.startsWith('video/') ? 'Video' : 'Audio', facts, conversion);
};

function formatFacts(format: Omit<IFormat, 'duration'> & { readonly duration: number | undefined }): Facts {
  return {
    container: format.container,
    codec: format.codec,
    codecProfile: format.codecProfile,
    durationSeconds: rounded(format.duration),
    bitsPerSecond: rounded(format.bitrate),
    sampleRateHertz: format.sampleRate,
    bitsPerSample: format.bitsPerSample,
    channels: format.numberOfChannels,
    lossless: format.lossless,
    createdAt: timeText(format.creationTime),
    changedAt: timeText(format.modificationTime),
    writtenWith: format.tool,
  };
}

const rounded = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : Number(value.toFixed(3));

/** The zero of MPEG-4's clock: a file with this time does not say when it was made. */
const NO_TIME = Date.UTC(1904, 0, 1);

const timeText = (time: Date | undefined): string | undefined =>
  time !== undefined && time.getTime() > NO_TIME ? time.toISOString() : undefined;

const tagFacts = (tags: Omit<ICommonTagsResult, 'picture'>): Facts =>
  Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, tagFact(value)]));

/** Converts a tag: a text or number, a place such as track 3 of 12 (`{ no, of }`), or a text with a language. */
function tagFact(value: unknown): Fact {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(tagFact).filter((fact) => fact !== undefined);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return undefined;
  if ('no' in value && 'of' in value) return placeText(value.no, value.of);
  if ('text' in value) return tagFact(value.text);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, tagFact(member)]));
}

function placeText(no: unknown, of: unknown): Fact {
  if (typeof no !== 'number') return undefined;
  return typeof of === 'number' ? `${no} of ${of}` : no;
}

/** Types of tracks by their numbers in Matroska. */
const TRACK_TYPES: Readonly<Record<number, string>> = {
  1: 'video',
  2: 'audio',
  3: 'complex',
  4: 'logo',
  17: 'subtitles',
  18: 'buttons',
  32: 'control',
};

function trackFacts({ type, codecName, name, language, audio, video }: IFormat['trackInfo'][number]): Facts {
  return {
    type: type === undefined ? undefined : TRACK_TYPES[type],
    // The library puts a code that it has no name for into angle brackets.
    codec: codecName?.replace(/^<(.*)>$/, '$1'),
    name,
    language,
    width: video?.pixelWidth,
    height: video?.pixelHeight,
    channels: audio?.channels,
    sampleRateHertz: audio?.samplingFrequency,
  };
}

const chapterFacts = ({ chapters, sampleRate }: IFormat): readonly Facts[] | undefined =>
  chapters?.map(({ title, start, timeScale, sampleOffset }) => ({
    startSeconds: rounded(
      timeScale !== undefined
        ? start / timeScale
        : sampleOffset !== undefined
          ? sampleOffset / (sampleRate ?? 1)
          : start,
    ),
    title,
  }));
