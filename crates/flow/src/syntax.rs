//! The syntax of a flow, as parsed from a Hurl file.

use truetail_model::random::mix64;
use truetail_model::time::Nanos;

use crate::evaluate::predicate::Predicate;
use crate::evaluate::query::Query;
use crate::scope::VariableId;
use crate::template::{Filter, Template};
use crate::value::Value;

#[derive(Clone, Debug)]
pub(crate) struct FlowFile {
    /// Share of the sessions that follow it, relative to the weights of other files.
    pub(crate) weight: u32,
    pub(crate) entries: Vec<Entry>,
    /// The names of all variables.
    pub(crate) names: Vec<String>,
}

/// A request and its expected answer.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The line of its method.
    pub(crate) line: usize,
    /// The name from truetail's comment.
    pub(crate) name: Option<String>,
    pub(crate) method: String,
    pub(crate) url: Template,
    pub(crate) headers: Vec<Pair>,
    pub(crate) parts: Parts,
    pub(crate) options: Options,
    pub(crate) body: Option<Body>,
    pub(crate) response: Option<Expected>,
}

pub(crate) type Pair = (Template, Template);

/// The sections of a request.
#[derive(Clone, Default, Debug)]
pub(crate) struct Parts {
    pub(crate) query: Vec<Pair>,
    pub(crate) form: Option<Vec<Pair>>,
    pub(crate) multipart: Option<Vec<(Template, Field)>>,
    pub(crate) cookies: Vec<Pair>,
    pub(crate) basic_auth: Option<Pair>,
}

/// A field of a multipart form.
#[derive(Clone, Debug)]
pub(crate) enum Field {
    Text(Template),
    File { path: String, content_type: Option<String> },
}

/// Options of a request.
#[derive(Clone, Default, Debug)]
pub(crate) struct Options {
    pub(crate) coming: Coming,
    pub(crate) variables: Vec<(VariableId, Setting)>,
    pub(crate) repeat: Option<u32>,
    pub(crate) skip: bool,
    /// The answer is a stream, according to truetail's comment.
    pub(crate) is_stream: bool,
    pub(crate) max_time: Option<Nanos>,
    /// The required version of HTTP.
    pub(crate) version: Option<&'static str>,
    /// Redirects are followed.
    pub(crate) location: bool,
    /// A redirect to another origin keeps `Authorization`.
    pub(crate) trusts_redirects: bool,
    /// Limit on the redirects, if given.
    pub(crate) max_redirects: Option<u32>,
    /// Limit on the retries after failures.
    pub(crate) retries: u32,
    /// Time from a failure to the retry, if given.
    pub(crate) retry_interval: Option<Nanos>,
}

/// Whether and when a session comes to a step.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Coming {
    /// The think time before it.
    pub(crate) delay: Option<Delay>,
    /// The session is complete before this step if this variable has no text.
    pub(crate) only_while: Option<VariableId>,
}

/// The think time before a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Delay {
    /// A constant time.
    Fixed(Nanos),
    /// An exponentially distributed time with this mean.
    Exponential(Nanos),
    /// A time between these two, each equally likely.
    Uniform(Nanos, Nanos),
}

impl Delay {
    /// Returns the time. `random` is the source of random numbers, which a constant time leaves as it is.
    pub(crate) fn time(self, random: &mut u64) -> Nanos {
        // Uniform in (0, 1].
        let mut draw = || {
            *random = mix64(*random);
            ((*random >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
        };
        match self {
            Delay::Fixed(time) => time,
            Delay::Exponential(mean) => Nanos((-draw().ln() * mean.0 as f64) as u64),
            Delay::Uniform(shortest, longest) => {
                shortest + Nanos((draw() * longest.saturating_sub(shortest).0 as f64) as u64)
            }
        }
    }
}

/// The value that a variable is set to.
#[derive(Clone, Debug)]
pub(crate) enum Setting {
    Value(Value),
    Text(Template),
}

/// The body of a request.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// A text, and its content type if no header states one.
    Text(Template, Option<&'static str>),
    Bytes(Vec<u8>),
    File(String),
}

/// The expected answer.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    pub(crate) line: usize,
    /// `None` accepts any status.
    pub(crate) status: Option<u16>,
    /// `1.0`, `1.1` or `2`. `None` accepts any version.
    pub(crate) version: Option<&'static str>,
    pub(crate) headers: Vec<(usize, Pair)>,
    pub(crate) captures: Vec<Capture>,
    pub(crate) asserts: Vec<Assert>,
    pub(crate) body: Option<ExpectedBody>,
}

/// The expected body of an answer.
#[derive(Clone, Debug)]
pub(crate) struct ExpectedBody {
    pub(crate) line: usize,
    /// The first line of its text: the line after that of ```.
    pub(crate) text_line: usize,
    pub(crate) body: Body,
}

/// A value that is kept.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    pub(crate) line: usize,
    pub(crate) variable: VariableId,
    pub(crate) look: QueryChain,
}

/// A query, and the filters that change its value.
#[derive(Clone, Debug)]
pub(crate) struct QueryChain {
    pub(crate) query: Query,
    pub(crate) filters: Vec<Filter>,
}

/// An assert on an answer.
#[derive(Clone, Debug)]
pub(crate) struct Assert {
    pub(crate) line: usize,
    pub(crate) look: QueryChain,
    /// The predicate must not hold.
    pub(crate) not: bool,
    pub(crate) predicate: Predicate,
}

impl QueryChain {
    /// Returns the variables that it needs. The query `variable` does not need a value.
    pub(crate) fn variables(&self) -> Vec<VariableId> {
        let query = match &self.query {
            Query::Header(name) => name.variables().collect(),
            Query::JsonPath(path) => path.variables(),
            Query::Regex(regex) => regex.variables(),
            _ => Vec::new(),
        };
        query.into_iter().chain(self.filters.iter().flat_map(Filter::variables)).collect()
    }
}
