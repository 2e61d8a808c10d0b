import { describe, expect, it } from 'vitest';
import { withParams } from './asking.ts';

describe('questions in 2026-07-28', () => {
  it('have params, even if the mounted server sent none', () => {
    const form = { method: 'elicitation/create', params: { message: 'Whose word?' } };
    expect(withParams({ inputRequests: { form, roots: { method: 'roots/list' } }, requestState: 's' })).toEqual({
      inputRequests: { form, roots: { method: 'roots/list', params: {} } },
      requestState: 's',
    });
  });

  it('leave a result without questions unchanged', () => {
    const task: { readonly status: string; readonly inputRequests?: unknown } = { status: 'working' };
    expect(withParams(task)).toBe(task);
  });
});
