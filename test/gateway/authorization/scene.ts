/** Vitrine's state directory, an authorization server, and an upstream that it protects, new for each test. */
import { afterEach, beforeEach } from 'vitest';
import { type StateDirectory, stateDirectory } from './client.ts';
import { type AuthorizationServer, authorizationServer, type ProtectedServer, protectedServer } from './servers.ts';

export interface Scene {
  readonly state: StateDirectory;
  readonly authorization: AuthorizationServer;
  readonly upstream: ProtectedServer;
}

/** Makes the scene before each test of the file, and ends it afterwards. Only tests and later hooks can use its members. */
export function sceneOfEachTest(): Scene {
  let state: StateDirectory;
  let authorization: AuthorizationServer;
  let upstream: ProtectedServer;
  beforeEach(async () => {
    state = await stateDirectory();
    authorization = await authorizationServer();
    upstream = await protectedServer(authorization);
  });
  afterEach(async () => {
    await upstream[Symbol.asyncDispose]();
    await authorization[Symbol.asyncDispose]();
    await state[Symbol.asyncDispose]();
  });
  return {
    get state() {
      return state;
    },
    get authorization() {
      return authorization;
    },
    get upstream() {
      return upstream;
    },
  };
}
