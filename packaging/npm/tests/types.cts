// Compiled only.

import { useLocum } from "locum/jest";

const hooks = useLocum();
export const url = (): string => hooks.server.url;
