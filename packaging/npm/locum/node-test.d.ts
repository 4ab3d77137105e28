import type { HookOptions, LocumHooks } from "./hooks.js";

/** Starts a server for the tests of this file, and creates a world for each. */
export function useLocum(options?: HookOptions): LocumHooks;
