// The packages of package.json, installed next to this file or in LOCUM_NODE_PACKAGES.

import { createRequire } from "node:module";
import { join } from "node:path";

const folder = process.env.LOCUM_NODE_PACKAGES ?? import.meta.dirname;

export const need = createRequire(join(folder, "package.json"));
