// Questions to the server: one at a time, and of those that wait only the newest.

async function ask(path, body = "") {
    const response = await fetch(path, { method: "POST", headers: { "x-truetail-token": token }, body });
    const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
    const answer = isJson ? await response.json() : { error: await response.text() };
    return { ok: response.ok, answer };
}

const GONE = "The server behind this page does not answer. Start truetail explore again and open the page that it names.";

// Browsers refuse to change the address many times a second.
const ADDRESS_MS = 150;

let asking = false;
let waiting = false;
let addressed = null;
// The verdict is asked for when no slider has moved for this time.
const JUDGE_MS = 400;
let judging = null;

/** A setting changed: the newest settings are simulated as soon as the server is free. */
function changed() {
    const text = settings();
    clearTimeout(addressed);
    addressed = setTimeout(() => history.replaceState(null, "", link()), ADDRESS_MS);
    document.body.dataset.wanted = wanted(text);
    byId("copied").textContent = "";
    showPreset(text);
    showMeasured();
    clearTimeout(judging);
    if (asking) waiting = true;
    else simulate(text);
}

/** What the page is to show, for its test. */
const wanted = text => `${text}&view=${view.value}`;

async function simulate(text) {
    asking = true;
    const [began, asked] = [performance.now(), wanted(text)];
    try {
        const { ok, answer } = await ask(`/simulate?view=${view.value}`, text);
        problem(ok ? null : answer);
        if (ok) show(answer);
    } catch {
        problem({ key: "", error: GONE });
    }
    // How long a change took until it was drawn, for the test of this page.
    document.body.dataset.shownAfterMs = (performance.now() - began).toFixed(1);
    document.body.dataset.shown = asked;
    asking = false;
    if (waiting) {
        waiting = false;
        simulate(settings());
    } else {
        judging = setTimeout(() => judge(text), JUDGE_MS);
    }
}

/** The verdict takes longer than the curves, so it comes when no slider moves. */
async function judge(text) {
    const { ok, answer } = await ask("/verdict", text).catch(() => ({ ok: false }));
    if (ok && text === settings()) byId("verdict").textContent = verdictText("truetail would call the open loop", answer);
}

function problem(refused) {
    const text = byId("problem");
    text.hidden = refused === null;
    text.textContent = refused?.error ?? "";
    byId("curves").classList.toggle("outdated", refused !== null);
    controls.forEach(control => {
        const isIt = refused !== null && refused.key === control.key;
        isIt ? control.exact.setAttribute("aria-invalid", "true") : control.exact.removeAttribute("aria-invalid");
    });
}
