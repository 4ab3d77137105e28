import type { Server, ServerOptions, World } from "./index.js";

export interface LocumHooks {
  /** From `beforeAll` on. */
  readonly server: Server;
  /** The world of the current test. */
  readonly world: World;
}

/** `source` is what the worlds are made of. */
export type HookOptions = ServerOptions & { source?: string };
