// Passkeys, with a virtual authenticator of the browser. LOCUM_SCREENSHOTS names a directory for screenshots.

import assert from "node:assert/strict";

import { PASSWORD } from "./browser.mjs";
import { inspectAtEachSize, isInert } from "./inspect.mjs";
import { people, world } from "./suite.mjs";

const here = world();
const SECURITY = "/settings/security";

/** A test at a host name: browsers have no passkeys at an IP address. */
function test(name, act) {
  people(here, name, (person) => {
    here.server.url = here.server.url.replace("127.0.0.1", "localhost");
    return act(person);
  });
}

/** Inspects the open page on phone and desktop sizes, light and dark. */
async function look(person, name) {
  await isInert(person);
  await inspectAtEachSize(person, `passkeys-${name}`);
}

/** Gives the browser an authenticator, such as a phone has; returns how to change whether it knows its user. */
async function addAuthenticator(person) {
  const session = await person.context.newCDPSession(person.page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    knowsUser: (isUserVerified) => session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
    list: async () => (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
  };
}

async function beginPasskey(person) {
  await person.open(SECURITY);
  await person.page.locator("#passkey_password").fill(PASSWORD);
  await person.press("Add a passkey");
}

test("member adds a passkey, signs in with it and removes it", async (person) => {
  const lena = await person();
  await lena.become("lena");
  const authenticator = await addAuthenticator(lena);
  await lena.open(SECURITY);
  await look(lena, "security-none");
  await beginPasskey(lena);
  await look(lena, "setup");
  await lena.fill({ Name: "Lena’s phone" });
  await lena.press("Create passkey");
  assert.match(await lena.text(), /The passkey was added/);
  const [credential] = await authenticator.list();
  assert.equal(credential.rpId, "localhost");
  assert.ok(credential.isResidentCredential);
  await look(lena, "security");

  await lena.open("/logout");
  await lena.press("Sign out");
  await lena.open(`/login?next=${SECURITY}`);
  await look(lena, "sign-in");
  await lena.press("Sign in with a passkey");
  assert.equal(lena.path(), SECURITY);
  assert.match(await lena.text(), /Signed in with a passkey/);
  assert.match(await lena.text(), /last used/);

  await lena.pick("Lena’s phone");
  await lena.page.locator("#removal_password").fill(PASSWORD);
  await lena.press("Remove passkey");
  assert.match(await lena.text(), /The passkey was removed/);
  await lena.open("/logout");
  await lena.press("Sign out");
  await lena.open("/login");
  await lena.press("Sign in with a passkey");
  assert.match(await lena.text(), /This passkey could not be used/);
  assert.equal(lena.path(), "/login/passkey");
  await look(lena, "sign-in-refused");
});

test("the page says why no passkey was made or used", async (person) => {
  const emil = await person();
  await emil.become("emil");
  const authenticator = await addAuthenticator(emil);
  await beginPasskey(emil);
  await emil.press("Create passkey");
  await beginPasskey(emil);
  const problem = emil.page.locator("form[data-passkey] [role=alert]");
  await emil.page.getByRole("button", { name: "Create passkey" }).click();
  await problem.filter({ hasText: "This device already has a passkey for your account." }).waitFor();
  await look(emil, "setup-refused");
  await emil.context.clearCookies();
  await emil.open("/login");
  await authenticator.knowsUser(false);
  await emil.page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await problem.filter({ hasText: "No passkey was used. Try again." }).waitFor();
  await authenticator.knowsUser(true);
  await emil.press("Sign in with a passkey");
  assert.equal(emil.path(), "/home");
});

test("without JavaScript the sign-in page is complete and offers no passkey", async (person) => {
  const anna = await person({ javaScriptEnabled: false });
  await anna.become("anna");
  await beginPasskey(anna);
  assert.match(await anna.text(), /Your browser can’t make a passkey here/);
  assert.equal(await anna.page.getByRole("button", { name: "Create passkey" }).isVisible(), false);
  await anna.open("/login?switch=1");
  assert.equal(await anna.page.getByRole("button", { name: "Sign in with a passkey" }).isVisible(), false);
  assert.equal(await anna.page.getByRole("button", { name: "Sign in", exact: true }).isVisible(), true);
});
