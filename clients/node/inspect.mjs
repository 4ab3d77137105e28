// Checks for every page: no foreign content, accessibility, and no overflow on a phone.

import assert from "node:assert/strict";

import { need } from "./packages.mjs";

const { source } = need("axe-core");

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
