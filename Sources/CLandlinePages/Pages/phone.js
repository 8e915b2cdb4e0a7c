import { start } from "/pages/shell.js";

await start("phone");
