import { layerContract } from '../../testing/layer-contract.ts';
import { mimeLayer } from './index.ts';

layerContract('mime', mimeLayer());
