//! The pictures of a page, as `truetail-report` draws them. A live page has none that the script draws itself.

use truetail_report::plot::Picture;

use crate::run::RunPage;

pub(crate) fn books(_page: &RunPage<'_>) -> Option<Picture> {
    None
}
pub(crate) fn heat_map(_page: &RunPage<'_>) -> Option<Picture> {
    None
}
pub(crate) fn lanes(_page: &RunPage<'_>) -> Option<Picture> {
    None
}
pub(crate) fn percentiles(_page: &RunPage<'_>) -> Option<Picture> {
    None
}
pub(crate) fn start_delay(_page: &RunPage<'_>) -> Option<Picture> {
    None
}
pub(crate) fn gaps(_page: &RunPage<'_>) -> Option<Picture> {
    None
}
pub(crate) fn by_rate(_page: &RunPage<'_>) -> Option<Picture> {
    None
}
pub(crate) fn answers(_page: &RunPage<'_>) -> Option<Picture> {
    None
}
pub(crate) fn targets(_page: &RunPage<'_>) -> Option<Picture> {
    None
}
pub(crate) fn percentiles_of(_curves: &[(&str, &truetail_analysis::series::RunSeries)]) -> Option<Picture> {
    None
}
