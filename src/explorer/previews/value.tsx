/** Data as a tree that opens and closes. */
import { useState } from 'preact/hooks';
import { countText } from '../../frontends/explorer/figures.ts';
import { visible } from './plain-text.tsx';

/** Members of one object or array that are drawn. */
const MAX_MEMBERS = 500;

/** Levels that are open at first. */
const OPEN_LEVELS = 2;

/** Members with which a branch is open at first. */
const OPEN_MEMBERS = 40;

interface ValueProps {
  readonly value: unknown;
  readonly level: number;
  readonly name?: string;
}

export function Value({ value, level, name }: ValueProps) {
  const [wasOpen, setOpen] = useState<boolean>();
  const label = name !== undefined && <span class="key">{visible(name)}: </span>;
  if (typeof value !== 'object' || value === null)
    return (
      <div class="leaf">
        {label}
        <span class={`v-${value === null ? 'null' : typeof value}`}>
          {typeof value === 'string' ? visible(value) : String(value)}
        </span>
      </div>
    );
  const members = Object.entries(value);
  const isOpen = wasOpen ?? (level === 0 || (level < OPEN_LEVELS && members.length <= OPEN_MEMBERS));
  const [from, to] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {label}
        <span class="soft">
          {from} {countText(members.length)} {to}
        </span>
      </summary>
      {isOpen && (
        <div class="members">
          {members.slice(0, MAX_MEMBERS).map(([key, each]) => (
            <Value key={key} name={key} value={each} level={level + 1} />
          ))}
          {members.length > MAX_MEMBERS && <div class="soft">… {countText(members.length - MAX_MEMBERS)}</div>}
        </div>
      )}
    </details>
  );
}
