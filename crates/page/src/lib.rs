//! HTML pages: the page of a run, the page that moves while a run goes on, and the page to play with. A page is one text
//! that loads nothing from elsewhere.
//!
//! | module | content |
//! |---|---|
//! | [`data`] | what the script of a page reads |
//! | [`explore`] | the page to play with |
//! | [`web`] | the local web server |

pub mod data;
pub mod explore;
pub mod web;
