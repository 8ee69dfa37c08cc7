// The theme, and what happens when the page is there.

const THEMES = ["auto", "light", "dark"];

// A page from a file may have no storage.
const stored = {
    get() { try { return localStorage.getItem("truetail-theme"); } catch { return null; } },
    set(theme) { try { localStorage.setItem("truetail-theme", theme); } catch { /* the choice ends with the page */ } },
};

function themeButton() {
    const button = html("button", { type: "button", class: "theme" });
    const set = theme => {
        document.documentElement.dataset.theme = theme;
        button.textContent = `Theme: ${theme}`;
    };
    button.addEventListener("click", () => {
        const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
        set(next);
        stored.set(next);
    });
    set(THEMES.includes(stored.get()) ? stored.get() : "auto");
    return button;
}

function begin() {
    document.querySelector("body > header")?.prepend(themeButton());
    document.addEventListener("keydown", event => {
        if (event.key === "Escape") views.forEach(view => view.reset());
    });
    document.querySelectorAll("figure").forEach(show);
    // In a narrow window the pictures that remain as they are scroll in their box, which the keyboard must reach.
    for (const picture of document.querySelectorAll(".picture")) {
        if (picture.scrollWidth > picture.clientWidth) picture.tabIndex = 0;
    }
    const followed = document.querySelector("main[data-live]");
    if (followed) live(followed.dataset.live, followed.querySelector(":scope > #runs") ? "list" : "run");
}

window.truetail = { html, show };
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
