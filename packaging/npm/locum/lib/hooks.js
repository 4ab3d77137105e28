// A server for a file of tests, and a world for each test, by the hooks of a test runner.
"use strict";

const { startServer } = require("./server.js");

// Beyond the time limit of the start, so that its error is shown.
const SPARE_MS = 5_000;

/** Runners limit hooks to fewer seconds than a start may take on a busy machine. */
function useLocum({ beforeAll, afterAll, beforeEach, afterEach }, { source, timeout = 60_000, ...options }) {
  const current = { server: undefined, world: undefined };
  beforeAll(async () => {
    current.server = await startServer({ timeout, ...options });
  }, timeout + SPARE_MS);
  beforeEach(async () => {
    current.world = await current.server.createWorld({ source });
  });
  afterEach(async () => {
    await current.world?.close();
    current.world = undefined;
  });
  afterAll(async () => {
    await current.server?.close();
  });
  return current;
}

module.exports = { useLocum };
