/** The types, errors and constants for writing a plug-in, without the engine. */

export type { AccessArea, AccessDecision, AccessPolicy, AccessRequest } from '../core/access.ts';
export { ANONYMOUS, type Log, type Principal, SILENT } from '../core/context.ts';
export type { Conversion, ConversionLimits, Convert, ConverterPlugIn } from '../core/conversion.ts';
export { ACCESS_OPERATIONS, type AccessEffect, type AccessOperation, ASKABLE, STRICTNESS } from '../core/decided.ts';
export { invalid, ResourceError } from '../core/errors.ts';
export { missingPackage } from '../core/missing-package.ts';
export type { PolicyPlugIn } from '../core/plug-in.ts';
export { encodeSegment } from '../core/uri.ts';
export { createOutput, type Output, tooMuch } from '../layers/alternatives/converters/converter.ts';
export { addTable, heading, markdownOf, plain, rowText } from '../layers/alternatives/converters/markdown.ts';
export type { Resource } from '../protocol/resources.ts';
export type {
  ApiReading,
  ApiSource,
  Description,
  DocumentPlugIn,
  FeedEntry,
  FeedSource,
  Operation,
} from '../providers/http/readings.ts';
