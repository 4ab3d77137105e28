"use strict";

const { useLocum } = require("./lib/hooks.js");

// Jest's globals, also where `injectGlobals` is off.
const { beforeAll, afterAll, beforeEach, afterEach } = require("@jest/globals");

// An assignment by name, which Node finds when an ES module imports it.
exports.useLocum = (options = {}) => useLocum({ beforeAll, afterAll, beforeEach, afterEach }, options);
