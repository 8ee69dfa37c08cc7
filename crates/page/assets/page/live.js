// A run that goes on: its page follows it.

/** Follows the run at `url` (server-sent events), until its page is complete. */
function live(url) {
    const source = new EventSource(url);
    const state = html("p", { class: "live", role: "status" });
    document.querySelector("main").prepend(state);
    state.textContent = "This run is going on. The page follows it.";
    source.addEventListener("update", ({ data }) => {
        const update = JSON.parse(data);
        state.textContent = "This run is going on. The page follows it.";
        Object.entries(update.sections).forEach(([id, inner]) => renew(document.getElementById(id), inner));
        show(update.data);
    });
    source.addEventListener("end", ({ data }) => {
        source.close();
        document.open();
        document.write(JSON.parse(data).html);
        document.close();
    });
    source.addEventListener("error", () => {
        state.textContent = "The connection to the run is lost. What you see is how far the page could follow it.";
    });
}

/**
 * Replaces what truetail wrote into a section. The pictures that this script drew stay where they are, so that zoom, cursor
 * and focus do; what belongs to them is replaced around them. Opened details stay open.
 */
function renew(section, inner) {
    if (!section) return;
    const open = [...section.querySelectorAll("details")].map(details => details.open);
    replaceAround(section, new DOMParser().parseFromString(inner, "text/html").body);
    section.querySelectorAll("details").forEach((details, i) => { details.open = open[i] ?? details.open; });
}

function replaceAround(old, fresh) {
    const kept = new Map();
    for (const figure of old.querySelectorAll(":scope > figure.drawn")) {
        const newer = fresh.querySelector(`:scope > figure[data-picture="${figure.dataset.picture}"]`);
        if (newer) kept.set(newer, figure);
    }
    [...old.childNodes].filter(node => ![...kept.values()].includes(node)).forEach(node => node.remove());
    let next = old.firstChild;
    for (const node of [...fresh.childNodes]) {
        const figure = kept.get(node);
        if (figure) {
            const place = figure.querySelector(":scope > .interactive");
            [...figure.childNodes].filter(child => child !== place).forEach(child => child.remove());
            const after = [...node.childNodes];
            const picture = after.findIndex(child => child.className === "picture");
            place.before(...after.slice(0, picture + 1));
            place.after(...after.slice(picture + 1));
            next = figure.nextSibling;
        } else {
            old.insertBefore(node, next);
        }
    }
}
