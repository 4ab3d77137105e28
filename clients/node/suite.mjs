// What the suites of this folder share: a server, a browser, people, and an end in any case.

import assert from "node:assert/strict";
import { after, before, test as it } from "node:test";

import { Browser } from "./browser.mjs";
import { Server } from "./server.mjs";

const LONGEST_TEST = 120_000;
const LONGEST_SUITE = 600_000;

/** Starts what the suite needs before its first test; `world` holds it then. */
export function world(...more) {
  const world = {};
  before(async () => {
    world.server = await Server.start(...more);
    world.browser = await Browser.start();
    world.callback = world.browser.site.callback;
  }, { timeout: LONGEST_TEST });
  after(async () => {
    await world.browser?.close();
    await world.server?.close();
    // Whatever is still open must not keep the suite from ending.
    setTimeout(() => process.exit(), 2_000).unref();
  }, { timeout: LONGEST_TEST });
  setTimeout(() => {
    console.error("the suite does not end");
    process.exit(1);
  }, LONGEST_SUITE).unref();
  return world;
}

/** A test in front of the browser; what no page may do fails it. */
export function people(world, name, act) {
  it(name, { timeout: LONGEST_TEST }, async () => {
    const all = [];
    const person = async (settings) => {
      all.push(await world.browser.person(world.server, settings));
      return all.at(-1);
    };
    try {
      await act(person);
      assert.deepEqual(all.flatMap((one) => one.trouble), []);
    } finally {
      for (const one of all) await one.leave();
    }
  });
}
