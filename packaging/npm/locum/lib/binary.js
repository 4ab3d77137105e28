// Where the server's binary is.
"use strict";

const { resolve } = require("node:path");

const { optionalDependencies = {} } = require("../package.json");

const VARIABLE = "LOCUM_BINARY";

/** LOCUM_BINARY if it is set, else the binary of this platform's package. */
function findBinary() {
  const named = process.env[VARIABLE];
  if (named) return resolve(named);
  const platform = `locum-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${platform}/bin/locum`);
  } catch {
    const existing = Object.keys(optionalDependencies).join(", ") || "none";
    throw new Error(`${platform} is not installed (there are ${existing}): name a binary in ${VARIABLE}`);
  }
}

module.exports = { findBinary, VARIABLE };
