// The pages of the built binary, used in Chromium.

import assert from "node:assert/strict";

import { PASSWORD } from "./browser.mjs";
import { people, world } from "./suite.mjs";
import { ask, begin, exchange, finish, signed, whose } from "./sign.mjs";

const here = world();
let numbers = 0;
const someone = () => `person_${++numbers}`;
const webApp = (name, ...more) => here.server.app(name, [here.callback], ...more);

/** Opens the newest email and follows its link. */
async function followEmail(person, subject, to) {
  await person.open("/mailbox");
  const row = person.page.locator("li", { hasText: to }).filter({ hasText: subject }).first();
  await person.follow(await row.getByRole("link").innerText(), row);
  await person.page.locator(".message-text a").first().waitFor();
  await Promise.all([person.page.waitForEvent("load"), person.page.locator(".message-text a").first().click()]);
}

const isSignedIn = async (person) => (await person.page.locator("details.menu").count()) === 1;

people(here, "an account is created and its address confirmed", async (person) => {
  const ada = await person();
  const name = someone();
  await ada.open("/login");
  await ada.follow("Create account");
  await ada.fill({ Name: "Somebody New", Username: name, Email: "not an address" });
  await ada.fill({ Email: `${name}@example.com`, Password: "password" });
  await ada.press("Create account");
  assert.match(await ada.text(), /Please correct the following/);
  assert.equal(await ada.page.getByLabel("Username", { exact: true }).inputValue(), name, "what was typed stays");
  await ada.page.getByRole("alert").getByRole("link").first().click();
  assert.equal(await ada.page.evaluate(() => document.activeElement.name), "password", "the summary leads there");
  await ada.fill({ Password: PASSWORD });
  await ada.press("Create account");
  assert.ok(await isSignedIn(ada));
  await ada.choose("Account");
  assert.match(await ada.text(), new RegExp(`${name}@example.com\\s*Not confirmed`));
  await followEmail(ada, "onfirm", `${name}@example.com`);
  assert.equal(await ada.heading(), "Confirm your email address");
  const link = ada.page.url();
  await ada.press("Confirm email");
  assert.equal(await ada.heading(), "Email address confirmed");
  await ada.open(link);
  assert.equal(await ada.heading(), "This link no longer works");
  await ada.choose("Account");
  assert.match(await ada.text(), new RegExp(`${name}@example.com\\s*Confirmed`));
});

people(here, "people sign in and out", async (person) => {
  const ada = await person();
  await ada.open("/settings/account");
  assert.equal(ada.path(), "/login");
  await ada.signIn("ada", "wrong");
  assert.match(await ada.text(), /Wrong username or password/);
  assert.equal(await ada.page.getByLabel("Username or email").inputValue(), "ada");
  await ada.signIn();
  assert.equal(ada.path(), "/settings/account", "where it was to go");
  await ada.choose("Sign out");
  await ada.press("Sign out");
  assert.equal(ada.path(), "/login");
  assert.ok(!(await isSignedIn(ada)));
  await ada.page.goBack();
  await ada.reload();
  assert.ok(!(await isSignedIn(ada)), "nothing is kept in the history");
  await ada.open("/settings/account");
  assert.equal(ada.path(), "/login");
});

people(here, "a forgotten password is set anew", async (person) => {
  const name = someone();
  const [ada, elsewhere] = [await person(), await (await person()).become(name)];
  await ada.open("/login");
  await ada.follow("Forgot your password?");
  await ada.fill({ Email: `${name}@example.com` });
  await ada.press("Send link");
  assert.equal(await ada.heading(), "Check your inbox");
  await followEmail(ada, "password", `${name}@example.com`);
  const link = ada.page.url();
  await ada.fill({ "New password": "another long password" });
  await ada.press("Save password");
  await elsewhere.open("/settings/account");
  assert.equal(elsewhere.path(), "/login", "signed out everywhere else");
  const other = await person();
  await other.open(link);
  assert.equal(await other.heading(), "This link no longer works");
  await other.open("/login");
  await other.signIn(name, PASSWORD);
  assert.match(await other.text(), /[Ww]rong/);
  await other.signIn(name, "another long password");
  assert.ok(await isSignedIn(other));
});

people(here, "a session is seen and ended from elsewhere", async (person) => {
  const name = someone();
  const ada = await (await person()).become(name);
  const others = [await person(), await person(), await person()];
  for (const other of others) {
    await other.open("/login");
    await other.signIn(name, PASSWORD);
  }
  await ada.choose("Sessions");
  const rows = ada.page.locator("main li", { hasText: "203.0.113." });
  assert.equal(await rows.count(), 4);
  assert.match(await rows.first().innerText(), /Chrom.* on Linux[\s\S]*This session/);
  await ada.press(/^Sign out /, rows.nth(1));
  assert.equal(await rows.count(), 3);
  for (const other of others) await other.open("/settings/account");
  assert.equal(others.filter((other) => other.path() === "/login").length, 1, "one of them is out");
  await ada.press("Sign out everywhere else");
  assert.equal(await rows.count(), 1);
  for (const other of others) {
    await other.open("/settings/account");
    assert.equal(other.path(), "/login");
  }
  await ada.reload();
  assert.ok(await isSignedIn(ada));
});

people(here, "a password and an address are changed", async (person) => {
  const name = someone();
  const ada = await (await person()).become(name);
  await ada.choose("Account");
  await ada.fill({ "Current password": "wrong", "New password": "yet another password" });
  await ada.press("Change password");
  assert.match(await ada.page.locator("#current-error").innerText(), /\w/);
  await ada.fill({ "Current password": PASSWORD, "New password": "yet another password" });
  await ada.press("Change password");
  assert.equal(await ada.page.getByRole("status").count(), 1, "it says so");
  await ada.fill({ "New email": `${name}@new.example`, "Your password": "yet another password" });
  await ada.press("Change email");
  assert.match(await ada.text(), new RegExp(`We sent an email to ${name}@new.example`));
  await ada.choose("Account");
  await ada.press("Cancel change");
  assert.doesNotMatch(await ada.text(), /new\.example/);
  await followEmail(ada, "onfirm", `${name}@new.example`);
  assert.equal(await ada.heading(), "This link no longer works");
  await ada.choose("Account");
  await ada.fill({ "New email": `${name}@other.example`, "Your password": "yet another password" });
  await ada.press("Change email");
  await followEmail(ada, "onfirm", `${name}@other.example`);
  await ada.press("Confirm email");
  await ada.choose("Account");
  assert.match(await ada.text(), new RegExp(`${name}@other.example\\s*Confirmed`));
});

people(here, "a new password ends what apps may do, where that is wanted", async (person) => {
  const app = webApp("Ended");
  const name = someone();
  const ada = await (await person()).become(name);
  const asked = ask(app, here.callback);
  await ada.authorize(asked.address);
  const token = await exchange(here.server, app, asked, ada.told().code);
  const change = async (from, to) => {
    await ada.open("/settings/account");
    await ada.fill({ "Current password": from, "New password": to });
  };
  await change(PASSWORD, "a second password");
  await ada.press("Change password");
  assert.equal((await here.server.ask("/2/users/me", token.access_token)).status, 200);
  await change("a second password", "a third password");
  await ada.pick("Revoke access of all apps");
  await ada.press("Change password");
  assert.equal((await here.server.ask("/2/users/me", token.access_token)).status, 401);
});

people(here, "the first page and pages that are not there lead on", async (person) => {
  const ada = await person();
  await ada.open("/");
  await ada.follow("Sign in");
  await ada.signIn();
  await ada.follow("Locum");
  assert.ok(await isSignedIn(ada));
  assert.equal((await ada.open("/nothing/here")).status(), 404);
  assert.equal(await ada.heading(), "Page not found");
  await ada.open("/");
  await ada.follow("Your apps", ada.page.locator(".actions"));
  assert.equal(await ada.heading(), "Your apps");
});

people(here, "OAuth 1.0a: authorize asks, each time", async (person) => {
  const app = webApp("Asks each time");
  const ada = await person();
  let begun = await begin(here.server, app, `${here.callback}?own=1`);
  await ada.open(begun.address);
  assert.match(await ada.text(), /to continue to Asks each time/);
  await ada.signIn();
  assert.equal(await ada.heading(), "Asks each time wants to use your account");
  assert.match(await ada.text(), new RegExp(`You will be redirected to ${new URL(here.callback).host}`));
  await ada.press("Authorize app");
  assert.ok(ada.isBack());
  const told = ada.told();
  assert.deepEqual([told.own, told.oauth_token], ["1", begun.key]);
  const token = await finish(here.server, app, begun, told.oauth_verifier);
  assert.equal(token.username, "ada");
  assert.equal(await whose(here.server, app, token), "ada");
  // A request can be answered only once.
  await ada.open(begun.address);
  assert.ok(!ada.isBack());
  begun = await begin(here.server, app, here.callback);
  await ada.open(begun.address);
  assert.equal(await ada.heading(), "Asks each time wants to use your account");
});

people(here, "OAuth 1.0a: authenticate asks once, and again where it must", async (person) => {
  const app = webApp("Asks once");
  const ada = await person();
  const visit = async (more = "", of = app) => {
    const begun = await begin(here.server, of, here.callback, "authenticate");
    await ada.open(begun.address + more);
    return begun;
  };
  await visit();
  await ada.signIn();
  assert.equal(await ada.heading(), "Asks once wants to use your account");
  await ada.press("Authorize app");
  assert.ok(ada.isBack());
  const begun = await visit();
  assert.ok(ada.isBack(), "nobody is asked");
  const token = await finish(here.server, app, begun, ada.told().oauth_verifier);
  assert.equal(await whose(here.server, app, token), "ada");
  await visit("", webApp("Never approved"));
  assert.equal(await ada.heading(), "Never approved wants to use your account");
  // Signed out; only the sign-in form is left.
  await ada.open("/logout");
  await ada.press("Sign out");
  await visit("&screen_name=ada");
  assert.equal(await ada.page.getByLabel("Username or email").inputValue(), "ada");
  await ada.signIn();
  assert.ok(ada.isBack(), "signing in leads back in one go");
  for (const more of ["&force_login=true", "&force_login"]) {
    await visit(more);
    assert.equal(await ada.heading(), "Sign in");
    await ada.signIn();
    assert.equal(await ada.heading(), "Asks once wants to use your account", `${more} asks for consent again`);
    await ada.press("Authorize app");
    assert.ok(ada.isBack());
  }
});

people(here, "OAuth 1.0a: a PIN", async (person) => {
  const app = webApp("By PIN");
  const ada = await person();
  const begun = await begin(here.server, app, "oob");
  await ada.authorize(begun.address);
  assert.equal(await ada.heading(), "Enter this PIN in By PIN");
  const pin = await ada.pin();
  assert.match(pin, /^\d{7}$/);
  await ada.page.locator(".pin").click();
  const selected = await ada.page.evaluate(() => getSelection().toString());
  assert.equal(selected.replace(/\s/g, ""), pin, "one click selects it");
  const wrong = { oauth_verifier: pin === "1111111" ? "2222222" : "1111111" };
  assert.equal((await signed(here.server, app, "POST", "/oauth/access_token", wrong, begun)).status, 401);
  const token = await finish(here.server, app, begun, pin);
  assert.equal(await whose(here.server, app, token), "ada");
});

people(here, "OAuth 1.0a: no", async (person) => {
  const app = webApp("Denied");
  const ada = await person();
  const begun = await begin(here.server, app, here.callback);
  await ada.authorize(begun.address, "Cancel");
  assert.ok(ada.isBack());
  assert.deepEqual(ada.told(), { denied: begun.key });
  const answer = await signed(here.server, app, "POST", "/oauth/access_token", { oauth_verifier: "x" }, begun);
  assert.equal(answer.status, 401);
  await ada.authorize((await begin(here.server, app, "oob")).address, "Cancel");
  assert.equal(await ada.heading(), "Access denied");
});

people(here, "whoever does not want to sign in says no all the same", async (person) => {
  const app = webApp("Not for everybody");
  const ada = await person();
  const begun = await begin(here.server, app, here.callback);
  await ada.open(begun.address);
  await ada.press("Cancel");
  assert.ok(ada.isBack());
  assert.deepEqual(ada.told(), { denied: begun.key });
  const asked = ask(app, here.callback);
  await ada.open(asked.address);
  await ada.press("Cancel");
  assert.ok(ada.isBack());
  assert.deepEqual([ada.told().error, ada.told().state], ["access_denied", asked.state]);
});

people(here, "OAuth 2.0: consent with PKCE, and no", async (person) => {
  const app = webApp("Asks for scopes");
  const ada = await person();
  let asked = ask(app, here.callback, "tweet.read users.read tweet.write offline.access");
  await ada.open(asked.address);
  assert.match(await ada.text(), /to continue to Asks for scopes/);
  await ada.signIn();
  assert.equal(await ada.heading(), "Asks for scopes wants to use your account");
  for (const scope of ["tweet.read", "users.read", "tweet.write", "offline.access"]) {
    assert.ok((await ada.text()).includes(scope), scope);
  }
  await ada.press("Authorize app");
  assert.ok(ada.isBack());
  assert.equal(ada.told().state, asked.state);
  assert.equal(ada.told().iss, undefined);
  const token = await exchange(here.server, app, asked, ada.told().code);
  assert.equal(token.scope, "tweet.read tweet.write users.read offline.access");
  assert.equal((await here.server.ask("/2/users/me", token.access_token)).data.username, "ada");
  asked = ask(app, here.callback);
  await ada.authorize(asked.address, "Cancel");
  assert.ok(ada.isBack());
  assert.equal(ada.told().error, "access_denied");
  assert.equal(ada.told().state, asked.state);
  assert.equal(ada.told().code, undefined);
  // An unregistered URI is reported on the page, without a redirect.
  await ada.open(ask(app, `${here.callback}/other`).address);
  assert.ok(!ada.isBack());
  assert.match(await ada.text(), /They differ at character/);
});

people(here, "an app's callback redirects to another site", async (person) => {
  const { site } = here.browser;
  const elsewhere = site.url.replace("127.0.0.1", "localhost");
  const home = `${elsewhere}/home`;
  const callback = site.redirect("/redirecting-callback", home);
  const app = here.server.app("Has two sites", [callback]);
  const ada = await person();
  ada.allow(elsewhere);
  assert.equal(await ada.authorize(ask(app, callback).address), home);
  assert.equal(await ada.authorize((await begin(here.server, app, callback)).address), home);
  // The sign-in form leads to the app at once.
  await ada.open("/logout");
  await ada.press("Sign out");
  await ada.open((await begin(here.server, app, callback, "authenticate")).address);
  await ada.signIn();
  assert.equal(ada.page.url(), home);
});

people(here, "somebody new comes from an app and goes back to it", async (person) => {
  const app = webApp("For newcomers");
  const [name, ada] = [someone(), await person()];
  const asked = ask(app, here.callback);
  await ada.open(asked.address);
  await ada.follow("Create account");
  assert.match(await ada.text(), /to continue to For newcomers/);
  await ada.join(name);
  await ada.press("Authorize app");
  const token = await exchange(here.server, app, asked, ada.told().code);
  assert.equal((await here.server.ask("/2/users/me", token.access_token)).data.username, name);
  // Another user signs in.
  await ada.open(ask(app, here.callback).address);
  await ada.follow("Switch account");
  await ada.signIn();
  assert.match(await ada.page.locator(".person.boxed").innerText(), /@ada/);
});

people(here, "a disconnected app is out at once", async (person) => {
  const app = webApp("Disconnected");
  const name = someone();
  const ada = await (await person()).become(name);
  const asked = ask(app, here.callback);
  await ada.authorize(asked.address);
  const bearer = await exchange(here.server, app, asked, ada.told().code);
  const begun = await begin(here.server, app, here.callback);
  await ada.authorize(begun.address);
  const token = await finish(here.server, app, begun, ada.told().oauth_verifier);
  assert.equal((await here.server.ask("/2/users/me", bearer.access_token)).status, 200);
  assert.equal(await whose(here.server, app, token), name);
  await ada.open("/settings/account");
  await ada.choose("Connected apps");
  assert.match(await ada.text(), /Disconnected\s*by @ada/);
  await ada.page.locator("details.more summary").click();
  assert.ok(await ada.page.locator("details.more li").first().isVisible());
  await ada.press("Revoke access of Disconnected");
  assert.equal((await here.server.ask("/2/users/me", bearer.access_token)).status, 401);
  assert.equal(await whose(here.server, app, token), 401);
  assert.match(await ada.text(), /No connected apps/);
  // After that, signing in always prompts.
  await ada.open((await begin(here.server, app, here.callback, "authenticate")).address);
  assert.equal(await ada.heading(), "Disconnected wants to use your account");
});

people(here, "an app is made, its keys are seen once and made anew", async (person) => {
  const ada = await (await person()).become(someone());
  await ada.choose("Developer: your apps");
  await ada.follow("Create your first app");
  await ada.fill({ Name: "Made by hand", Description: "It was clicked together.", Website: "https://app.example" });
  await ada.fill({ "Callback URLs": "not an address" });
  await ada.press("Create app");
  assert.match(await ada.text(), /Please correct the following/);
  assert.equal(await ada.page.getByLabel("Name", { exact: true }).inputValue(), "Made by hand");
  await ada.fill({ "Callback URLs": here.callback });
  await ada.pick("Automated app or bot");
  await ada.pick("Enable sign-in with this app");
  await ada.press("Create app");
  assert.match(await ada.text(), /Save these now/);
  const shown = async () => {
    const [names, values] = [ada.page.locator("dl.values dt"), ada.page.locator("dl.values dd")];
    const [name, value] = [await names.allInnerTexts(), await values.allInnerTexts()];
    return Object.fromEntries(name.map((name, at) => [name, value[at]]));
  };
  const isOnPage = async (value) => (await ada.page.content()).includes(value);
  const bearer = async (token) => (await here.server.ask(`/2/users/${here.server.env.USER_ID}`, token)).status;
  const signs = (keys) => begin(here.server, { api_key: keys["API key"], api_secret: keys["API secret"] }, here.callback);
  const first = await shown();
  assert.equal(await bearer(first["Bearer token"]), 200);
  await signs(first);
  await ada.follow("Keys");
  for (const name of ["API secret", "Bearer token", "Client secret"]) {
    assert.ok(!(await isOnPage(first[name])), `${name} is shown once`);
  }
  const anew = async (object, button) => {
    await ada.follow(`${button} ${object}`);
    await ada.press(button);
    const values = await shown();
    await ada.follow("Keys");
    for (const [name, value] of Object.entries(values)) {
      if (name !== "Client ID") assert.ok(!(await isOnPage(value)), `${name} is shown once`);
    }
    return values;
  };
  const second = await anew("the bearer token", "Regenerate");
  assert.equal(await bearer(first["Bearer token"]), 401, "the old one is dead");
  assert.equal(await bearer(second["Bearer token"]), 200);
  await assert.doesNotReject(signs(await anew("the API key and secret", "Regenerate")));
  await assert.rejects(signs(first), "the old ones are dead");
  const own = await anew("your access token and secret", "Create");
  assert.equal(Object.keys(own).length, 2);
  const client = await anew("the client secret", "Regenerate");
  assert.equal(client["Client ID"], first["Client ID"]);
  assert.notEqual(client["Client secret"], first["Client secret"]);
});

people(here, "a callback address is tried before it is used", async (person) => {
  const ada = await person();
  const app = webApp("Tries callbacks");
  await ada.open(`/developer/apps/${app.id}/callbacks`);
  await ada.signIn();
  const verdict = async (address) => {
    await ada.fill({ "Callback URL": address });
    await ada.press("Test callback URL");
    return ada.page.locator("#verdict").innerText();
  };
  assert.equal(await verdict(here.callback), "Accepted");
  assert.equal(await verdict(`${here.callback}?more=1`), "Accepted by OAuth 1.0a only");
  assert.equal(await verdict(`${here.callback}/`), "Rejected");
  assert.match(await ada.text(), /They differ at character|They are identical/);
});

people(here, "an app is changed and deleted", async (person) => {
  const app = webApp("To be deleted");
  const ada = await person();
  await ada.open(`/developer/apps/${app.id}`);
  await ada.signIn();
  await ada.fill({ Description: "Changed in the portal." });
  await ada.press("Save changes");
  assert.equal(await ada.page.getByRole("status").count(), 1, "it says so");
  await ada.reload();
  assert.equal(await ada.page.getByLabel("Description", { exact: true }).inputValue(), "Changed in the portal.");
  await ada.open(`/developer/apps/${app.id}/delete`);
  await ada.fill({ "App name": "Something else" });
  await ada.press("Delete app");
  assert.match(await ada.text(), /Please correct|name/);
  await ada.fill({ "App name": "To be deleted" });
  await ada.press("Delete app");
  assert.equal(ada.path(), "/developer/apps");
  await assert.rejects(begin(here.server, app, here.callback));
});

people(here, "everything works without JavaScript", async (person) => {
  const app = webApp("No script");
  const name = someone();
  const ada = await (await person({ javaScriptEnabled: false })).become(name);
  const asked = ask(app, here.callback);
  await ada.authorize(asked.address);
  const token = await exchange(here.server, app, asked, ada.told().code);
  const begun = await begin(here.server, app, "oob");
  await ada.authorize(begun.address);
  assert.equal((await finish(here.server, app, begun, await ada.pin())).username, name);
  await ada.choose("Connected apps");
  await ada.press("Revoke access of No script");
  assert.equal((await here.server.ask("/2/users/me", token.access_token)).status, 401);
  await ada.choose("Developer: your apps");
  await ada.follow("Create your first app");
  await ada.fill({ Name: "Without script", Description: "Made without it." });
  await ada.press("Create app");
  assert.match(await ada.text(), /Save these now/);
  await ada.choose("Sign out");
  await ada.press("Sign out");
  assert.equal(ada.path(), "/login");
});
