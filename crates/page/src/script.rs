//! The scripts of the pages, concatenated from files in `assets/`, so that a page loads nothing.

/// Concatenates files of a folder in `assets/`, in this order and in a scope.
macro_rules! script {
    ($folder:literal: $($file:literal)+) => {
        concat!(
            "(() => {\n\"use strict\";\n\n",
            $(include_str!(concat!("../assets/", $folder, "/", $file, ".js")), "\n",)+
            "})();\n"
        )
    };
}

/// The script of all pages. It draws the series of a run as pictures that can be read, zoomed and saved. Without it, a
/// page shows its static pictures. It loads nothing from elsewhere, and no data reach the page as markup.
///
/// It reads the data of `data.rs` and `truetail_analysis::series`, with times in ns and positions on the time axis in
/// s. Other scripts use the object `truetail`, whose members are listed at the end of `begin.js`.
pub(crate) const PAGE: &str = script!("page":
    "figures" "scales" "axes" "panels" "curves" "elements" "view" "chart" "drawing" "shapes" "heat" "reading" "save" "charts"
    "pictures" "live" "begin"
);

/// The script of the interactive page, for use after [`PAGE`]. It sends the settings of the sliders to the server of
/// the page, draws the resulting curves with [`PAGE`], and draws the requests over time itself.
pub(crate) const EXPLORE: &str = script!("explore":
    "page" "controls" "presets" "questions" "answer" "requests" "real" "begin"
);
