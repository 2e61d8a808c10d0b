/** A resource of the web that is open. */
import type { BodyContent, BodyWindow } from '../../core/body.ts';
import type { Facts } from './facts.ts';

/** A content on its way out. */
export interface Opened {
  readonly facts: Facts;
  readonly content: BodyContent;
  readonly window?: BodyWindow | undefined;
  readonly close?: (() => Promise<void>) | undefined;
}
