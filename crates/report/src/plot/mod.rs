//! Pictures as SVG and PNG. Pure functions: the same data give the same bytes of SVG.
//!
//! | function | draws |
//! |---|---|
//! | [`spectrum()`] | response time over 1/(1 − q), logarithmic: the whole tail of several runs |
//! | [`run_spectrum()`] | the spectrum of one run |
//! | [`tool_spectrum()`], [`many_tools_spectrum()`] | the spectrum of load tools, as they report themselves |
//! | [`requests()`] | single requests by their start, two runs above each other |
//! | [`intervals()`] | a value per interval of time for several series, and for the whole run |
//! | [`heat_map()`] | response times of a run by time and length |
//! | [`lanes()`] | load, waiting requests, response time and generator lag over time |
//! | [`percentiles()`] | percentile curves of a run with their interval, service time, closed-loop shadow, other runs |
//! | [`start_delay()`] | causes of the start delay over time |
//! | [`gaps()`] | gaps between sends, compared with the planned gaps |
//! | [`by_rate()`] | response time against rate |
//! | [`books()`], [`answers()`] | outcomes of all planned arrivals; statuses and errors |
//! | [`capacity_curve()`] | a search for capacity: a percentile against rate, and the ends |
//! | [`sweep_curves()`] | sweeps over rates: times against throughput |
//! | [`event_gaps()`] | gaps between the events of streams by time and length |
//! | [`waterfall()`] | a few streams, event by event |
//! | [`session_waterfall()`] | a few sessions, request by request |
//! | [`session_ends()`] | early ends of sessions by step and cause |
//! | [`ledger()`] | parts of the response times that the service reported |
//! | [`service_lanes()`] | counters and gauges that services published |
//! | [`goodput()`] | number of planned requests that met their objectives |
//! | [`targets()`] | the response times of several targets |
//! | [`never_sent()`] | the requests of a closed loop, and those that it never sent |
//! | [`history()`] | a percentile over a series of runs, with its levels |
//! | [`spark()`] | a course of values, as small as a word |
//! | [`audit_timeline()`], [`audit_quantiles()`] | another tool's file over time; its percentiles, also corrected |
//!
//! Elements have classes for recolouring. Without data, a picture is a sentence with the reason.
//!
//! Colours are the palette of Okabe & Ito ("Color Universal Design", 2008), distinct in any kind of colour vision.
//! Lines also differ in their dashes. Legends are above the frame, away from the data. Texts are set in Inter, which is
//! built in for PNG, so that a machine without fonts draws the same. A browser without Inter takes another sans-serif.

mod answers;
mod audit;
mod books;
mod by_rate;
mod capacity;
mod color;
mod frame;
mod gaps;
mod goodput;
mod heat_map;
mod history;
mod intervals;
mod lane;
mod lanes;
mod layout;
mod ledger;
mod look;
mod never_sent;
mod outlines;
mod over_time;
mod percentiles;
mod picture;
mod png;
mod reading;
mod requests;
mod run_pictures;
mod scale;
mod service;
mod session_ends;
mod session_waterfall;
mod sheet;
mod spark;
mod spectrum;
mod start_delay;
mod steps;
mod svg;
mod sweep;
mod targets;
mod text_width;
mod waterfall;

pub use answers::answers;
pub use audit::{audit_quantiles, audit_timeline};
pub use books::books;
pub use by_rate::by_rate;
pub use capacity::capacity_curve;
pub use color::{Role, ToolModel};
pub use gaps::gaps;
pub use goodput::goodput;
pub use heat_map::{event_gaps, heat_map};
pub use history::history;
pub use intervals::{IntervalPlot, IntervalSeries, Shade, intervals};
pub use lanes::lanes;
pub use ledger::ledger;
pub use never_sent::never_sent;
pub use percentiles::{CurveSource, percentile_curves, percentiles};
pub use picture::{Picture, PictureError};
pub use png::PngError;
pub use reading::Reading;
pub use requests::{Panel, RequestPlot, requests};
pub use run_pictures::pictures_of_run;
pub use service::service_lanes;
pub use session_ends::session_ends;
pub use session_waterfall::session_waterfall;
pub use spark::spark;
pub use spectrum::{Curve, SPECTRUM, many_tools_spectrum, run_spectrum, spectrum, tool_spectrum};
pub use start_delay::start_delay;
pub use sweep::sweep_curves;
pub use targets::targets;
pub use waterfall::waterfall;
