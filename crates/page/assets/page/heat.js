// The heat map.

/** One pixel a cell on a canvas of its own, which is then stretched row by row: rows are not equally high. */
function drawHeat(chart, panel, layer, top) {
    const { canvas } = panel;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [chart.innerWidth, panel.height];
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    const place = { left: MARGIN.left, top, width, height };
    Object.entries(place).forEach(([name, value]) => { canvas.style[name] = `${value}px`; });
    const colors = [...panel.ramp.querySelectorAll("i")].map(stop => rgb(getComputedStyle(stop).backgroundColor));
    const [least, most] = panel.ramp.querySelectorAll("b");
    const map = layer?.map ?? { largest: 0 };
    panel.ramp.hidden = map.largest === 0;
    if (map.largest === 0 || !panel.y) return;
    [least.textContent, most.textContent] = ["1", count(map.largest)];
    const key = colors.join();
    if (panel.image?.key !== key || panel.image.map !== map) {
        panel.image = { key, map, cells: cellImage(map, colors) };
    }
    const { cells } = panel.image;
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    const { edges } = chart.axis;
    const x = value => (chart.x(value) - MARGIN.left) * ratio;
    const y = value => Math.round((panel.y(value) - top) * ratio);
    const last = map.cells.length - 1;
    for (let row = 0; row < map.rows; row++) {
        const [upper, lower] = [y(layer.edge(row + 1)), y(layer.edge(row))];
        if (lower < 0 || upper > canvas.height) continue;
        const stretch = (from, columns, left, right) => columns > 0 && context.drawImage(cells, from, row, columns, 1,
            left, upper, right - left, Math.max(1, lower - upper));
        // The last column may be wider than the others.
        stretch(0, last, x(edges[0]), x(edges[last]));
        stretch(last, 1, x(edges[last]), x(edges[last + 1]));
    }
}

const rgb = color => color.match(/[\d.]+/g).slice(0, 3).map(Number);

/** A canvas with a pixel for each cell. The colour stands for the logarithm of the count. */
function cellImage(map, colors) {
    const canvas = html("canvas", { width: Math.max(1, map.cells.length), height: Math.max(1, map.rows) });
    const context = canvas.getContext("2d");
    const image = context.createImageData(canvas.width, canvas.height);
    const most = Math.log(map.largest) || 1;
    map.cells.forEach((cells, column) => cells.forEach(([row, n]) => {
        const place = map.largest === 1 ? 2 : Math.log(n) / most * 2;
        const [from, to] = place < 1 ? [colors[0], colors[1]] : [colors[1], colors[2]];
        const part = place < 1 ? place : place - 1;
        const pixel = 4 * (row * canvas.width + column);
        from.forEach((value, channel) => { image.data[pixel + channel] = value + (to[channel] - value) * part; });
        image.data[pixel + 3] = 255;
    }));
    context.putImageData(image, 0, 0);
    return canvas;
}
