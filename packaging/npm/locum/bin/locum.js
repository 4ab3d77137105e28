#!/usr/bin/env node
// Runs the binary in place of this process, as far as Node can.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const { findBinary, VARIABLE } = require("../lib/binary.js");

try {
  run(findBinary());
} catch (error) {
  fail(error);
}

function run(binary) {
  const env = { ...process.env };
  // It may name this command.
  delete env[VARIABLE];
  const child = spawn(binary, process.argv.slice(2), { stdio: "inherit", env });
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  // A terminal sends it to the binary too.
  process.on("SIGINT", () => {});
  child.on("error", fail);
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

function fail(error) {
  console.error(`locum: ${error.message}`);
  process.exit(1);
}
