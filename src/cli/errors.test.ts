import { describe, expect, it } from 'vitest';
import { ConfigError } from '../config/error.ts';
import { invalid, ResourceError } from '../core/errors.ts';
import { explainFailure, UsageError } from './errors.ts';

describe('explainFailure', () => {
  it('exits with 2 for mistakes of the user', () => {
    for (const error of [new UsageError('usage'), new ConfigError('config'), invalid('invalid')])
      expect(explainFailure(error)).toEqual({ line: error.message, status: 2 });
  });

  it('exits with 1 for failures', () => {
    expect(explainFailure(new ResourceError('unavailable', 'later'))).toEqual({ line: 'later', status: 1 });
  });

  it('calls everything else a defect', () => {
    for (const thrown of [new TypeError('odd'), 'odd'])
      expect(explainFailure(thrown)).toEqual({ line: expect.stringMatching(/^odd \(.*defect/), status: 1 });
  });
});
