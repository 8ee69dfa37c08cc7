//! A flow as it is written: what a parser of Hurl files makes of one.

use truetail_model::time::Nanos;

use crate::evaluate::predicate::Predicate;
use crate::evaluate::query::Query;
use crate::scope::VariableId;
use crate::template::{Filter, Template};
use crate::value::Value;

/// A file.
#[derive(Clone, Debug)]
pub(crate) struct FlowFile {
    /// How many sessions follow it, in proportion to those of other files.
    pub(crate) weight: u32,
    pub(crate) entries: Vec<Entry>,
    /// The names of all variables.
    pub(crate) names: Vec<String>,
}

/// A request and what is expected of its answer.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The line of its method.
    pub(crate) line: usize,
    /// What our own comment calls it.
    pub(crate) name: Option<String>,
    pub(crate) method: String,
    pub(crate) url: Template,
    pub(crate) headers: Vec<Pair>,
    pub(crate) parts: Parts,
    pub(crate) options: Options,
    pub(crate) body: Option<Body>,
    pub(crate) response: Option<Expected>,
}

/// A name and a value.
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

/// How a request is made.
#[derive(Clone, Default, Debug)]
pub(crate) struct Options {
    pub(crate) delay: Option<Delay>,
    pub(crate) variables: Vec<(VariableId, Setting)>,
    pub(crate) repeat: Option<u32>,
    pub(crate) skip: bool,
    /// What our own comment says: its answer is a stream.
    pub(crate) is_stream: bool,
    pub(crate) max_time: Option<Nanos>,
    /// The version of HTTP that is asked for.
    pub(crate) version: Option<&'static str>,
    /// Redirects are followed.
    pub(crate) location: bool,
    /// A redirect to another origin takes `Authorization` with it.
    pub(crate) trusts_redirects: bool,
    /// At most so many of them, where that is said.
    pub(crate) max_redirects: Option<u32>,
    /// How often it is tried again after it failed.
    pub(crate) retries: u32,
    /// How long after it failed, where that is said.
    pub(crate) retry_interval: Option<Nanos>,
}

/// The time that a user thinks before a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Delay {
    /// Always as long.
    Fixed(Nanos),
    /// Exponentially distributed with this mean.
    Exponential(Nanos),
}

/// What a variable is set to.
#[derive(Clone, Debug)]
pub(crate) enum Setting {
    Value(Value),
    Text(Template),
}

/// The body of a request.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// A text, and what `Content-Type` says of it where no header does.
    Text(Template, Option<&'static str>),
    Bytes(Vec<u8>),
    File(String),
}

/// What is expected of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    pub(crate) line: usize,
    /// `None`: any.
    pub(crate) status: Option<u16>,
    /// `1.0` or `1.1`; `None`: any.
    pub(crate) version: Option<&'static str>,
    pub(crate) headers: Vec<(usize, Pair)>,
    pub(crate) captures: Vec<Capture>,
    pub(crate) asserts: Vec<Assert>,
    pub(crate) body: Option<ExpectedBody>,
}

/// The body that is expected of an answer.
#[derive(Clone, Debug)]
pub(crate) struct ExpectedBody {
    pub(crate) line: usize,
    /// The line in which its text begins: behind that of ```.
    pub(crate) text_line: usize,
    pub(crate) body: Body,
}

/// A value that is kept.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    pub(crate) line: usize,
    pub(crate) variable: VariableId,
    pub(crate) look: Look,
}

/// Where a value comes from, and what is made of it.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) query: Query,
    pub(crate) filters: Vec<Filter>,
}

/// What must hold.
#[derive(Clone, Debug)]
pub(crate) struct Assert {
    pub(crate) line: usize,
    pub(crate) look: Look,
    /// It must not hold.
    pub(crate) not: bool,
    pub(crate) predicate: Predicate,
}

impl Look {
    /// Variables that it needs. One that is asked for by name need not have a value.
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
