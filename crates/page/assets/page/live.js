// A run that goes on, or a list that grows: the page follows it.

const FOLLOWED = {
    run: { goes: "This run is going on. The page follows it.",
        lost: "The connection to the run is lost. What you see is how far the page could follow it." },
    list: { goes: "", lost: "The server of this page has ended. The list is as it was then." },
};

/** Follows what is at `url` (server-sent events), until its page is complete. */
function live(url, kind) {
    const source = new EventSource(url);
    const state = html("p", { class: "live", role: "status" });
    const say = text => {
        state.textContent = text;
        state.hidden = !text;
    };
    document.querySelector("main").prepend(state);
    say(FOLLOWED[kind].goes);
    source.addEventListener("open", () => say(FOLLOWED[kind].goes));
    source.addEventListener("update", ({ data }) => {
        const { sections, pictures } = JSON.parse(data);
        Object.entries(sections).forEach(([id, inner]) => renew(document.getElementById(id), inner));
        for (const [name, inner] of Object.entries(pictures)) {
            const figure = document.querySelector(`figure[data-picture="${name}"]`);
            if (!figure) continue;
            figure.querySelector(":scope > .picture").innerHTML = inner;
            show(figure);
        }
    });
    source.addEventListener("end", ({ data }) => {
        source.close();
        document.open();
        document.write(JSON.parse(data).html);
        document.close();
    });
    source.addEventListener("error", () => {
        say(FOLLOWED[kind].lost);
    });
}

/** Replaces what truetail wrote into a section. Opened details stay open, picked rows stay picked, and the focus stays. */
function renew(section, inner) {
    if (!section) return;
    const open = [...section.querySelectorAll("details")].map(details => details.open);
    const picked = new Set([...section.querySelectorAll("input:checked")].map(input => input.value));
    const focus = section.contains(document.activeElement) ? sameAs(document.activeElement) : null;
    section.innerHTML = inner;
    section.querySelectorAll("details").forEach((details, i) => { details.open = open[i] ?? details.open; });
    section.querySelectorAll("input").forEach(input => { input.checked = picked.has(input.value); });
    if (focus) [...section.querySelectorAll("a, button, input, [tabindex]")].find(focus)?.focus({ preventScroll: true });
}

/** Finds the successor of an element by its link, its value, or its name. */
function sameAs(element) {
    const key = one => [one.tagName, one.getAttribute("href"), one.getAttribute("value"), one.getAttribute("aria-label")].join();
    const wanted = key(element);
    return one => key(one) === wanted;
}
