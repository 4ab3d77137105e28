// Where the server's binary is.
"use strict";

const { resolve } = require("node:path");

const VARIABLE = "LOCUM_BINARY";

/** LOCUM_BINARY if it is set, else the binary of this platform's package. */
function findBinary() {
  const named = process.env[VARIABLE];
  if (named) return resolve(named);
  const platform = `${process.platform}-${process.arch}`;
  try {
    return require.resolve(`locum-${platform}/bin/locum`);
  } catch {
    throw new Error(`there is no binary for ${platform}: name one in ${VARIABLE}`);
  }
}

module.exports = { findBinary, VARIABLE };
