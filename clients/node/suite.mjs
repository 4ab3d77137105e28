// Shared by the suites in this directory: a server, a browser, users, and cleanup.

import assert from "node:assert/strict";
import { after, before, test as it } from "node:test";

import { Browser } from "./browser.mjs";
import { Server } from "./server.mjs";

const LONGEST_TEST = 120_000;
const LONGEST_SUITE = 600_000;

/** Starts the suite's server and browser before its first test; `world` refers to them. */
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
    // Open handles must not keep the suite from exiting.
    setTimeout(() => process.exit(), 2_000).unref();
  }, { timeout: LONGEST_TEST });
  setTimeout(() => {
    console.error("the suite does not exit");
    process.exit(1);
  }, LONGEST_SUITE).unref();
  return world;
}

/** A test in the browser; forbidden behaviour of a page fails it. */
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
