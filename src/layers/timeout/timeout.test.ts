import { layerContract } from '../../testing/layer-contract.ts';
import { timeoutLayer } from './index.ts';

layerContract('timeout', timeoutLayer({ timeoutMs: 20_000 }));
