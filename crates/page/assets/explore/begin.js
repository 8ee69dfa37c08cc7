// What happens when the page is there.

apply(presets[0].settings);
if (location.hash.length > 1) apply(location.hash.slice(1));
changed();
real(() => ask("/real/state"));
