use truetail_engine::{HttpVersion, MessageOptions, Method, Origin, Request, RequestSet, TargetRequests};
use truetail_run::ANY_METHOD;
use url::Url;

use crate::course::SessionStart;
use crate::itinerary::{Itinerary, ItineraryStep};
use crate::origins::{FlowOrigin, Origins};

/// Guided sessions as known before the run: their name, origins and steps.
#[derive(Clone, Debug)]
pub struct GuidedPlan {
    name: String,
    steps: Vec<String>,
    pub(super) origins: Origins,
    pub(super) asks: Asks,
}

/// The kind of the requests of sessions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Asks {
    Http(HttpVersion),
    /// gRPC calls over HTTP/2.
    Calls,
    /// Messages on the channel of the session.
    Messages(Box<MessageOptions>),
}

impl GuidedPlan {
    /// Plans sessions. `origins` has URLs without a path, at least one. `steps` has the distinct names of the steps.
    ///
    /// # Errors
    /// An origin or a step is invalid.
    pub fn new(
        name: &str,
        origins: &[String],
        steps: &[String],
        version: HttpVersion,
    ) -> Result<GuidedPlan, PlanError> {
        let mut of_urls = Origins::default();
        for url in origins {
            of_urls.add(origin_of(url).map_err(PlanError::Origin)?);
        }
        if origins.is_empty() {
            return Err(PlanError::Origin("none given; write one such as 'http://127.0.0.1:8080'".to_owned()));
        }
        check(steps).map_err(PlanError::Steps)?;
        Ok(GuidedPlan { name: name.to_owned(), steps: steps.to_vec(), origins: of_urls, asks: Asks::Http(version) })
    }

    /// Plans sessions that send messages, each session on its channel to `origin`. Answers have no status and no
    /// header fields, and requests only a step, a think time and a body: a message that `options` does not refuse.
    ///
    /// # Errors
    /// An origin or a step is invalid.
    pub fn of_messages(
        name: &str,
        origin: Origin,
        steps: &[String],
        options: MessageOptions,
    ) -> Result<GuidedPlan, PlanError> {
        check(steps).map_err(PlanError::Steps)?;
        let root = Url::parse(&origin.to_string()).map_err(|error| PlanError::Origin(error.to_string()))?;
        let mut origins = Origins::default();
        origins.add(FlowOrigin::new(origin, root));
        Ok(GuidedPlan {
            name: name.to_owned(),
            steps: steps.to_vec(),
            origins,
            asks: Asks::Messages(Box::new(options)),
        })
    }

    /// Makes gRPC calls over HTTP/2 from now on. The status of an answer is the recorded status of its call, and its
    /// trailers follow its header fields.
    pub fn with_calls(self) -> GuidedPlan {
        GuidedPlan { asks: Asks::Calls, ..self }
    }

    /// Returns the origins of the requests by number, at least one.
    pub fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.origins.iter().map(|origin| &origin.origin)
    }

    /// Returns the name of the sessions.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if the requests are gRPC calls.
    pub fn makes_calls(&self) -> bool {
        self.asks == Asks::Calls
    }

    /// Returns the options of the messages, if the requests are messages.
    pub fn messages(&self) -> Option<&MessageOptions> {
        if let Asks::Messages(options) = &self.asks { Some(options) } else { None }
    }

    /// Returns the targets of a run, one per step. The requests are only known during the run.
    pub fn requests(&self) -> RequestSet {
        // HTTP/2 takes the fields of the first request as typical for all requests.
        let FlowOrigin { root, origin, .. } = self.origins.get(0);
        let first = Request::new(Method::Get, root.as_str(), &[], Vec::new()).map(|first| first.parts());
        let first = first.unwrap_or_default();
        let shown = match &self.asks {
            Asks::Http(_) => root.to_string(),
            Asks::Calls => root.as_str().replacen("http", "grpc", 1),
            Asks::Messages(_) => origin.to_string(),
        };
        let of_step = |(nth, name): (usize, &String)| {
            let method = Method::Other(ANY_METHOD.to_owned());
            let mut target = TargetRequests::new(method, shown.clone(), 1).named(name.clone());
            match nth {
                0 => target.push(&first),
                _ => target.push_message(name.as_bytes()),
            }
            target
        };
        RequestSet::from_steps(self.steps.iter().enumerate().map(of_step).collect()).expect("there is a step")
    }

    /// Returns the sessions as the books see them.
    pub(super) fn itinerary(&self) -> Itinerary {
        let place =
            |(nth, name): (usize, &String)| ItineraryStep { name: name.clone(), line: nth + 1, asks_again: false };
        let steps = self.steps.iter().enumerate().map(place).collect();
        Itinerary { name: self.name.clone(), weight: 1, first_step: 0, steps, moves: None }
    }

    pub(super) fn beginning(&self) -> SessionStart {
        SessionStart { flow: 0, first_step: 0, first_move: 0, choices: self.steps.len(), random: 0 }
    }

    pub(super) fn step_count(&self) -> usize {
        self.steps.len()
    }
}

/// Reason why sessions cannot be planned.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlanError {
    /// The origins are invalid.
    #[error("{0}")]
    Origin(String),
    /// The steps are invalid.
    #[error("{0}")]
    Steps(String),
}

fn origin_of(url: &str) -> Result<FlowOrigin, String> {
    let first = Request::new(Method::Get, url, &[], Vec::new()).map_err(|error| error.to_string())?;
    let url = first.url();
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(format!("'{url}' has more than a scheme, a host and a port; paths belong to the requests"));
    }
    Ok(FlowOrigin::new(first.origin(), url.clone()))
}

fn check(steps: &[String]) -> Result<(), String> {
    if steps.is_empty() {
        return Err("none given; name the steps of a session, such as 'login' and 'list'".to_owned());
    }
    for (nth, name) in steps.iter().enumerate() {
        if name.trim().is_empty() || name.contains(char::is_control) {
            return Err(format!("{name:?} is no name of a step; write some letters"));
        }
        if steps[..nth].contains(name) {
            return Err(format!("'{name}' is there twice; a step that is done again is one step"));
        }
    }
    Ok(())
}
