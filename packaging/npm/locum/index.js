"use strict";

const { LocumError } = require("./lib/control.js");
const { intercept } = require("./lib/interception.js");
const { Server, World, startServer } = require("./lib/server.js");

module.exports = { LocumError, Server, World, intercept, startServer };
