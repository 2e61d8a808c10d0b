import { mimeLayer } from '../../layers/mime/index.ts';
import { timeoutLayer } from '../../layers/timeout/index.ts';
import { filesFixture } from '../../testing/files-fixture.ts';
import { providerContract } from '../../testing/provider-contract.ts';

providerContract('files under mime', (seed) => filesFixture(seed, mimeLayer()));
providerContract('files under timeout', (seed) => filesFixture(seed, timeoutLayer({ timeoutMs: 20_000 })));
