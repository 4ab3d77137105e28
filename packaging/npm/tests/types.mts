// Compiled only.

import { type LocumError, type World, intercept, startServer } from "locum";
import { useLocum } from "locum/node-test";
import { createTest } from "locum/vitest";

const hooks = useLocum({ source: "ads" });
const rule: Promise<string> = hooks.world.faults.add("rate-limit", { times: 1, resetSeconds: 2 });

export async function use(): Promise<World> {
  const server = await startServer({ seed: 42, clock: "frozen" });
  const world = await server.createWorld({ source: "empty" });
  await world.clock.advance("8d");
  await world.journal.expect("POST /2/tweets count=0", { timeout: 0 });
  intercept(world).close();
  return world;
}

createTest({ seed: 42 })("a world", async ({ locum, locumServer }) => {
  await locum.limits.setMode("off");
  await locumServer.close();
});

export const status = (error: LocumError): number | undefined => error.status;
export { rule };
