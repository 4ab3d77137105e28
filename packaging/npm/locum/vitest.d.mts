import type { TestAPI } from "vitest";

import type { HookOptions } from "./hooks.js";
import type { Server, World } from "./index.js";

export interface LocumFixtures {
  /** The server of the worker. */
  locumServer: Server;
  /** A world for this test alone. */
  locum: World;
}

/** `test` with the fixtures. */
export function createTest(options?: HookOptions): TestAPI<LocumFixtures>;

export const test: TestAPI<LocumFixtures>;
