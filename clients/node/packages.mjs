// The packages of package.json: installed beside this file, or where LOCUM_NODE_PACKAGES says.

import { createRequire } from "node:module";
import { join } from "node:path";

const folder = process.env.LOCUM_NODE_PACKAGES ?? import.meta.dirname;

export const need = createRequire(join(folder, "package.json"));
