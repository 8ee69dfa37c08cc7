//! Reading of the metrics of services beside a run.
//!
//! | module | content |
//! |---|---|
//! | `endpoint` | address of a page of metrics, and reading it |
//! | `scraper` | the pages of a service over a run |
//! | `scrapers` | all services: before, during and after the run |

mod endpoint;
mod scraper;
mod scrapers;

pub(crate) use scrapers::Scrapers;
