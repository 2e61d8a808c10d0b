export function endpointOf(sdk: 'v1' | 'v2', era: 'legacy' | 'modern'): (request: Request) => Promise<Response>;
