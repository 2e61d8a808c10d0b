import { describe, expect, it } from 'vitest';
import { ownIcon } from './kinds.ts';

const iconOf = (src: string) => ownIcon({ uri: 'a:1', name: 'a', icons: [{ src }] });

describe('an icon from a server', () => {
  it.each(['data:image/png;base64,iVBORw0KGgo=', 'data:image/svg+xml,%3Csvg%2F%3E', 'data:image/gif;base64,R0lGOD'])(
    'is shown: %s',
    (src) => expect(iconOf(src)).toBe(src),
  );

  it.each([
    'https://elsewhere.example/icon.png',
    'data:text/html,<script>',
    'data:image/png;base64,',
    'data:image/png;base64,"onerror=alert(1)',
    'data:image/png;base64,AAAAA',
    'data:image/png;base64,not base64!',
  ])('is replaced by the icon of its kind: %s', (src) => expect(iconOf(src)).toBeUndefined());
});
