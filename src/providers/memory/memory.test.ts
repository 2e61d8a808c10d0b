import { memoryFixture, streaming } from '../../testing/memory-fixture.ts';
import { providerContract } from '../../testing/provider-contract.ts';

providerContract('memory', (seed) => memoryFixture(seed));
providerContract('memory, in streams', (seed) => memoryFixture(seed, streaming));
