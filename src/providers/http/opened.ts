/** The type of a web resource that is open for reading. */
import type { BodyContent, BodyWindow } from '../../core/body.ts';
import type { Facts } from './facts.ts';

export interface Opened {
  readonly facts: Facts;
  readonly content: BodyContent;
  readonly window?: BodyWindow | undefined;
  readonly close?: (() => Promise<void>) | undefined;
}
