"use strict";

const { after, afterEach, before, beforeEach } = require("node:test");

const { useLocum } = require("./lib/hooks.js");

// Its second argument is not a time limit.
const beforeAll = (start) => before(start);

// An assignment by name, which Node finds when an ES module imports it.
exports.useLocum = (options = {}) => useLocum({ beforeAll, afterAll: after, beforeEach, afterEach }, options);
