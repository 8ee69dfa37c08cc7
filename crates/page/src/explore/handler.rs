//! The addresses of the page.
//!
//! | address | answer |
//! |---|---|
//! | `GET /` | the page |
//! | `POST /simulate?view=whole` | the simulation of the settings in the body |
//! | `POST /verdict` | truetail's verdict on the run of the open loop |
//! | `POST /real?closed=yes` | starts a run on real sockets with the settings in the body |
//! | `POST /real/state` | its state |
//! | `POST /real/cancel` | ends it |
//!
//! All addresses except the page require the token of the page as a header. Pages of other sites can neither read the
//! token nor set the header, so they cannot start anything.

use serde::Serialize;

use super::answer::{Answer, TimelineView, VerdictText};
use super::backend::Backend;
use super::document::document;
use super::measured::{RealAnswer, measured_curves};
use super::settings::{Settings, SettingsError};
use crate::web::{Handler, Request, Response};

const TOKEN_HEADER: &str = "x-truetail-token";

/// The interactive page.
pub struct ExplorePage<B> {
    backend: B,
    token: String,
    page: String,
}

#[derive(Serialize)]
struct Refusal<'a> {
    /// Key of the faulty setting; empty if the error concerns no particular setting.
    key: &'a str,
    error: &'a str,
}

impl<B: Backend> ExplorePage<B> {
    /// Creates a page over `backend`. `token` is a secret of letters and digits that cannot be guessed.
    pub fn new(backend: B, token: String) -> ExplorePage<B> {
        let page = document(&backend.presets(), &token);
        ExplorePage { backend, token, page }
    }

    /// Returns the simulator, server and engine of this page.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    fn answer(&self, request: &Request) -> Response {
        let settings = || Settings::parse(std::str::from_utf8(&request.body).unwrap_or("?"));
        match request.path.as_str() {
            "/simulate" => {
                settings().map_or_else(|error| refused(&error), |settings| self.simulate(&settings, request))
            }
            "/verdict" => settings().map_or_else(|error| refused(&error), |settings| self.verdict(&settings)),
            "/real" => settings().map_or_else(|error| refused(&error), |settings| self.start(settings, request)),
            "/real/state" => self.real_state(),
            "/real/cancel" => {
                self.backend.cancel_real();
                self.real_state()
            }
            _ => Response::error(404, "there is nothing at this address"),
        }
    }

    fn simulate(&self, settings: &Settings, request: &Request) -> Response {
        let plan = settings.simulation();
        let view = if request.query == "view=whole" { TimelineView::Whole } else { TimelineView::FirstStall };
        match self.backend.simulate(&plan) {
            Ok(loops) => {
                let measured = measured_curves(&self.backend.real(), settings);
                Response::json(Answer::new(settings.to_query(), &plan, &loops, view, measured).json())
            }
            Err(error) => refused_because(&error),
        }
    }

    fn verdict(&self, settings: &Settings) -> Response {
        match self.backend.open_loop(&settings.simulation()) {
            Ok(run) => Response::json(VerdictText::new(&truetail_analysis::findings(&run).verdict).json()),
            Err(error) => refused_because(&error),
        }
    }

    fn start(&self, settings: Settings, request: &Request) -> Response {
        let plan = match settings.real(request.query == "closed=yes") {
            Ok(plan) => plan,
            Err(error) => return refused(&error),
        };
        match self.backend.start_real(settings, plan) {
            Ok(()) => self.real_state(),
            Err(error) => refused_because(&error),
        }
    }

    fn real_state(&self) -> Response {
        Response::json(RealAnswer::new(self.backend.real(), &self.backend).json())
    }
}

impl<B: Backend + 'static> Handler for ExplorePage<B> {
    fn handle(&self, request: &Request) -> Response {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET" | "HEAD", "/") => Response::html(self.page.as_str()),
            ("POST", _) if request.header(TOKEN_HEADER) == Some(self.token.as_str()) => self.answer(request),
            ("POST", _) => Response::error(403, "only the page that this server gave out may ask for that"),
            ("GET" | "HEAD", _) => Response::error(404, "there is nothing at this address; the page is at /"),
            _ => Response::error(405, "only GET and POST are understood"),
        }
    }
}

fn refused(error: &SettingsError) -> Response {
    refusal(&Refusal { key: &error.key, error: &error.message })
}

fn refused_because(error: &str) -> Response {
    refusal(&Refusal { key: "", error })
}

fn refusal(refusal: &Refusal<'_>) -> Response {
    let json = serde_json::to_string(refusal).expect("every key is a text and every value has a JSON form");
    Response::json(json).with_status(400)
}
