import type { ResourceHierarchy } from 'vitrine/sep-2093';

export const shelf: Required<ResourceHierarchy>;
