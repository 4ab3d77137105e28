// Checks for every page: no foreign content, accessibility, and no overflow on a phone. LOCUM_SCREENSHOTS names a directory
// for pictures of the pages.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { need } from "./packages.mjs";

const { source } = need("axe-core");
const PICTURES = process.env.LOCUM_SCREENSHOTS;
if (PICTURES) mkdirSync(PICTURES, { recursive: true });
export const PHONE = { width: 390, height: 844 };
export const DESK = { width: 1280, height: 900 };
const SMALL = { width: 320, height: 640 };

/** Device, size, colours, and whether axe-core runs. */
const WAYS = [
  ["desk", DESK, "light", true],
  ["desk", DESK, "dark", true],
  ["phone", PHONE, "light", true],
  ["phone", PHONE, "dark", true],
];
/** For suites with many pages: the smallest phone too, and axe-core twice. */
export const WAYS_WITH_SMALL_PHONE = [
  ["desk", DESK, "light", true],
  ["desk", DESK, "dark", false],
  ["phone", PHONE, "light", false],
  ["phone", PHONE, "dark", true],
  ["small", SMALL, "light", false],
];

/** Checks the open page at each size and in light and dark colours, and takes pictures of it. It has one heading. */
export async function inspectAtEachSize(person, name, ways = WAYS) {
  assert.equal(await person.page.locator("h1").count(), 1, `${name} has one heading`);
  for (const [device, size, colorScheme, hasAxe] of ways) {
    await person.page.setViewportSize(size);
    await person.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await fits(person, name);
    if (PICTURES && size !== SMALL) {
      await person.page.screenshot({ path: join(PICTURES, `${name}.${device}.${colorScheme}.png`), fullPage: true });
    }
    if (hasAxe) await isAccessible(person, `${name}, ${device}, ${colorScheme}`);
  }
  await person.page.setViewportSize(DESK);
}

/** A PNG file of this size, drawn by the browser. */
export async function drawPicture(person, width, height) {
  const drawn = await person.page.evaluate(([width, height]) => {
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const pen = canvas.getContext("2d");
    const sky = pen.createLinearGradient(0, 0, 0, height);
    sky.addColorStop(0, "#2b6cb0");
    sky.addColorStop(1, "#fbd38d");
    pen.fillStyle = sky;
    pen.fillRect(0, 0, width, height);
    return canvas.toDataURL("image/png");
  }, [width, height]);
  return Buffer.from(drawn.split(",")[1], "base64");
}

/** The page runs, loads and links only what our templates contain. */
export async function isInert(person) {
  const found = await person.page.evaluate(() => {
    const wrong = [];
    const strange = "script:not([src^='/assets/']),iframe,frame,object,embed,img:not([src^='/media/'][alt],[src^='/messages/files/'][alt]),video,audio,base,style,applet,portal,link:not([rel=stylesheet],[rel=icon],[rel=alternate],[rel=canonical]),meta[http-equiv]";
    for (const element of document.querySelectorAll("*")) {
      if (element.matches(strange)) wrong.push(element.outerHTML.slice(0, 200));
      for (const { name, value } of element.attributes) {
        if (/^on|^srcdoc$/.test(name) || (name === "style" && value)) wrong.push(`${element.tagName} ${name}=${value}`);
        if (!["href", "src", "action", "formaction", "ping", "xlink:href"].includes(name)) continue;
        const url = new URL(value, location.href);
        const isLink = element.tagName === "A" && /^https?:$/.test(url.protocol);
        if (url.origin !== location.origin && !isLink) wrong.push(`${element.tagName} ${name}=${value}`);
      }
    }
    return wrong;
  });
  assert.deepEqual(found, [], person.page.url());
}

/** axe-core finds no violation. */
export async function isAccessible(person, name) {
  await person.page.evaluate(source);
  const { violations } = await person.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const told = violations.map(({ id, impact, nodes }) => {
    const where = nodes.map((node) => `${node.html}\n    ${node.failureSummary}`);
    return `${name}: ${impact}: ${id}: ${where.join("; ")}`;
  });
  assert.deepEqual(told, []);
}

/** Nothing overflows the window. */
export async function fits(person, name) {
  const beyond = await person.page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const all = [...document.querySelectorAll("body *")];
    return all.filter((one) => one.getBoundingClientRect().right > width).map((one) => one.outerHTML.slice(0, 120));
  });
  assert.deepEqual(beyond, [], `${name} at ${person.page.viewportSize().width}`);
}
