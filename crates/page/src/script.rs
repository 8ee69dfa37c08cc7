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

/// The script of all pages. It lets a reader zoom into the pictures of `truetail_report::plot`, read their values and
/// save them. It draws no data itself: it shows parts of a picture, with the ticks and texts of its
/// `truetail_report::plot::Reading`. Without it, a page shows the pictures as they are. It loads nothing else.
///
/// Other scripts use the object `truetail`, whose members are listed at the end of `begin.js`.
pub(crate) const PAGE: &str = script!("page":
    "elements" "view" "chart" "panel" "reading" "save" "live" "begin"
);

/// The script of the interactive page, for use after [`PAGE`]. It sends the settings of the sliders to the server of
/// the page, and shows the resulting pictures with [`PAGE`].
pub(crate) const EXPLORE: &str = script!("explore":
    "page" "controls" "presets" "questions" "answer" "real" "begin"
);
