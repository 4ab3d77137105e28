// Makes passkeys and signs in with them. Their forms are hidden until this runs.
"use strict";
(() => {
  const form = document.querySelector("form[data-passkey]");
  if (!form || !window.PublicKeyCredential || !navigator.credentials) return;
  const problem = form.querySelector("[role=alert]");

  function decode(text) {
    const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
  }

  function encode(buffer) {
    const plain = btoa(String.fromCharCode(...new Uint8Array(buffer)));
    return plain.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  }

  async function create({ challenge, site, siteName, userHandle, username, displayName, existing }) {
    const credential = await navigator.credentials.create({
      publicKey: {
        challenge: decode(challenge),
        rp: { id: site, name: siteName },
        user: { id: decode(userHandle), name: username, displayName },
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
        authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
        excludeCredentials: existing.split(" ").filter(Boolean).map((id) => ({ type: "public-key", id: decode(id) })),
        attestation: "none",
        timeout: 300_000,
      },
    });
    const { response } = credential;
    return { client_data: response.clientDataJSON, authenticator_data: response.getAuthenticatorData() };
  }

  async function get({ challengePath }) {
    const body = new URLSearchParams({ csrf: form.elements.csrf.value });
    const answer = await fetch(challengePath, { method: "POST", body });
    const { challenge, site, error } = await answer.json();
    if (error) throw new Error(error);
    const { rawId, response } = await navigator.credentials.get({
      publicKey: { challenge: decode(challenge), rpId: site, userVerification: "required", timeout: 300_000 },
    });
    return {
      credential: rawId,
      client_data: response.clientDataJSON,
      authenticator_data: response.authenticatorData,
      signature: response.signature,
      user_handle: response.userHandle ?? new ArrayBuffer(0),
    };
  }

  /** Browsers do not say whether somebody cancelled, or there is no passkey. */
  function explain(error) {
    if (error.name === "InvalidStateError") return "This device already has a passkey for your account.";
    if (error.name === "NotAllowedError") return "No passkey was used. Try again.";
    return error.name === "Error" ? error.message : "This did not work. Reload the page and try again.";
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    problem.textContent = "";
    try {
      const answer = await (form.dataset.passkey === "create" ? create : get)(form.dataset);
      for (const [name, bytes] of Object.entries(answer)) form.elements[name].value = encode(bytes);
      form.submit();
    } catch (error) {
      problem.textContent = explain(error);
      button.disabled = false;
    }
  });

  // A browser may come back to the page as it left it.
  window.addEventListener("pageshow", () => {
    form.querySelector("button").disabled = false;
  });
  document.querySelector("[data-without-passkeys]")?.remove();
  form.hidden = false;
})();
