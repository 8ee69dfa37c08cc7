// Elements. Text goes in as text only.

function html(name, attributes = {}, ...children) {
    return filled(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
    return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (value !== null && value !== false) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
}

/** A place in pixels. */
const px = value => String(Math.round(value * 10) / 10);
