// A run that goes on: its page follows it.

/** Follows the run at `url` (server-sent events), until its page is complete. */
function live(url) {
    const source = new EventSource(url);
    const state = html("p", { class: "live", role: "status" });
    document.querySelector("main").prepend(state);
    state.textContent = "This run is going on. The page follows it.";
    source.addEventListener("update", ({ data }) => {
        const { sections, pictures } = JSON.parse(data);
        state.textContent = "This run is going on. The page follows it.";
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
        state.textContent = "The connection to the run is lost. What you see is how far the page could follow it.";
    });
}

/** Replaces what truetail wrote into a section. Opened details stay open. */
function renew(section, inner) {
    if (!section) return;
    const open = [...section.querySelectorAll("details")].map(details => details.open);
    section.innerHTML = inner;
    section.querySelectorAll("details").forEach((details, i) => { details.open = open[i] ?? details.open; });
}
