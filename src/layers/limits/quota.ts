/** How many there may be at the same time: in total, and of one principal, so that none takes them from the others. */
import { overLimit } from '../../core/admission.ts';
import { ANONYMOUS, type Principal } from '../../core/context.ts';

export interface QuotaOptions {
  /** What there may be so many of, for the error. */
  readonly what: string;
  /** The limit in total, by its name; undefined where something else limits it. */
  readonly total?: { readonly name: string; readonly max: number } | undefined;
  readonly perPrincipal: { readonly name: string; readonly max: number };
  /** When it is worth trying again, in milliseconds. */
  readonly retryAfterMs: number;
  /** Whether anonymous callers count as one principal. */
  readonly anonymousIsOne: boolean;
}

export interface Quota {
  /**
   * Takes one; what is returned gives it back, once.
   * @throws ResourceError `limited`
   */
  hold(principal: Principal): () => void;
  /** Whether one could be taken. */
  hasRoom(principal: Principal): boolean;
  /** What is held now. */
  readonly size: number;
}

export function createQuota({ what, total, perPrincipal, retryAfterMs, anonymousIsOne }: QuotaOptions): Quota {
  const held = new Map<string, number>();
  let size = 0;
  const refused = (whose: string, { name, max }: { readonly name: string; readonly max: number }): Error =>
    overLimit(`Too many ${what}${whose}: there may be ${max} at a time (limits.${name})`, name, retryAfterMs);
  const isFull = (): boolean => total !== undefined && size >= total.max;
  const hasEnough = ({ id }: Principal): boolean =>
    (anonymousIsOne || id !== ANONYMOUS.id) && (held.get(id) ?? 0) >= perPrincipal.max;
  return {
    hasRoom: (principal) => !isFull() && !hasEnough(principal),
    hold(principal) {
      const { id } = principal;
      if (total !== undefined && isFull()) throw refused('', total);
      if (hasEnough(principal)) throw refused(' of one principal', perPrincipal);
      const own = held.get(id) ?? 0;
      size++;
      held.set(id, own + 1);
      let released = false;
      return () => {
        if (released) return;
        released = true;
        size--;
        const left = (held.get(id) ?? 1) - 1;
        if (left === 0) held.delete(id);
        else held.set(id, left);
      };
    },
    get size() {
      return size;
    },
  };
}
