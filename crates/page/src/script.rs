//! The scripts of the pages: files of `assets/` put together, so that a page loads nothing.

/// Puts the files of a folder of `assets/` together, in this order, in a scope of their own.
macro_rules! script {
    ($folder:literal: $($file:literal)+) => {
        concat!(
            "(() => {\n\"use strict\";\n\n",
            $(include_str!(concat!("../assets/", $folder, "/", $file, ".js")), "\n",)+
            "})();\n"
        )
    };
}

/// The script of all pages. It draws the series of a run as pictures that can be read, zoomed and saved. A page shows its
/// static pictures without it. It loads nothing from elsewhere, and no data reach the page as markup.
///
/// The data are those of `data.rs` and of `truetail_analysis::series`: times in ns, places on the time axis in s. It gives
/// other scripts `truetail`: what `begin.js` names at its end.
pub(crate) const PAGE: &str = script!("page":
    "figures" "scales" "axes" "panels" "curves" "elements" "view" "chart" "drawing" "shapes" "heat" "reading" "save" "charts"
    "pictures" "live" "begin"
);

/// The script of the page to play with, after [`PAGE`]: sliders whose settings the simulator behind the page answers. It
/// draws the curves with [`PAGE`] and the requests over time itself. Everything is asked of the server that gave out the page.
pub(crate) const EXPLORE: &str = script!("explore":
    "page" "controls" "presets" "questions" "answer" "requests" "real" "begin"
);
