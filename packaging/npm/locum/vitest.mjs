import { test as base } from "vitest";

import { startServer } from "./index.js";

/** `test` with the fixtures `locumServer` and `locum`; options as of `startServer`, and the `source` of the worlds. */
export function createTest({ source, ...options } = {}) {
  return base.extend({
    locumServer: [
      async ({}, use) => {
        const server = await startServer(options);
        await use(server);
        await server.close();
      },
      { scope: "worker" },
    ],
    locum: async ({ locumServer }, use) => {
      const world = await locumServer.createWorld({ source });
      await use(world);
      await world.close();
    },
  });
}

export const test = createTest();
