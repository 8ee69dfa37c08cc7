use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use truetail_engine::{Origin, RequestParts, TargetRequests};
use truetail_model::random::mix64;
use truetail_model::time::Timestamp;
use truetail_requests::BuiltIn;
use truetail_run::{UniqueNames, split_origin};

use crate::cookies::CookieJar;
use crate::error::FlowError;
use crate::itinerary::{Itinerary, ItineraryStep};
use crate::make::{ReadFile, StepMaker};
use crate::origins::Origins;
use crate::parse::{self, typed};
use crate::request::{Sender, StepRequest};
use crate::rows::{RowTable, SessionRows};
use crate::scope::{Scope, VariableId};
use crate::step::Step;
use crate::syntax::{Entry, FlowFile, Setting};
use crate::value::Value;

/// Limit on the requests of a session.
const MAX_SESSION_STEPS: usize = 100_000;

/// A checked flow, ready to run. All parts that do not depend on answers are made before the run.
#[derive(Clone, Debug)]
pub struct Flow {
    pub(crate) name: String,
    /// Share of the sessions that follow this flow, relative to the weights of the other flows of a run.
    pub(crate) weight: u32,
    /// Index of its first step among the steps of all flows of a run.
    pub(crate) first_step: u32,
    pub(crate) steps: Vec<Step>,
    /// The step of each request of a session.
    pub(crate) moves: Vec<u32>,
    /// The names of its variables.
    pub(crate) names: Vec<String>,
    /// The values that each session begins with.
    pub(crate) initial: Vec<Option<Value>>,
    /// Variables that are built-in values.
    pub(crate) built_ins: Arc<[(VariableId, BuiltIn)]>,
    /// The rows that give each session further values.
    pub(crate) rows: Option<Arc<RowTable>>,
    /// The origins of its requests. Several flows share one list.
    pub(crate) origins: Origins,
    /// Its requests are sent over HTTP/2.
    pub(crate) is_http2: bool,
}

impl Flow {
    /// Parses a flow called `name`. `variables` are set before the first step of each session.
    ///
    /// # Errors
    /// The flow is invalid or uses an unsupported feature. The error has the line.
    pub fn parse(
        name: &str,
        text: &str,
        variables: &[(String, String)],
        read_file: ReadFile<'_>,
    ) -> Result<Flow, FlowError> {
        Flow::parse_with_rows(name, text, variables, None, read_file)
    }

    /// Parses a flow like [`Flow::parse`], but each session also begins with the values of a row.
    ///
    /// # Errors
    /// The flow is invalid, as for [`Flow::parse`].
    pub fn parse_with_rows(
        name: &str,
        text: &str,
        variables: &[(String, String)],
        rows: Option<&SessionRows>,
        read_file: ReadFile<'_>,
    ) -> Result<Flow, FlowError> {
        let mut file = parse::parse(text)?;
        file.entries.retain(|entry| !entry.options.skip);
        let Some(first) = file.entries.first() else {
            return Err(FlowError::new(1, "every request is skipped; there is nothing to do"));
        };
        if first.options.coming.delay.is_some() {
            let help = "it would only move the arrivals of the sessions; put it before a later request";
            return Err(FlowError::new(first.line, format!("the first request has a delay: {help}")));
        }
        if first.options.coming.only_while.is_some() {
            return Err(FlowError::new(
                first.line,
                "the first request is always sent; write 'while' before a later one",
            ));
        }
        let initial = initial_values(&file, variables);
        let rows = rows.map(|rows| Arc::new(RowTable::for_variables(rows, &file.names)));
        let built_ins = built_ins(&file, &initial, rows.as_deref());
        check_variables(&file, &initial, rows.as_deref(), &built_ins)?;
        let mut maker = StepMaker::new(&file, &initial, read_file);
        let mut steps = file.entries.iter().map(|entry| maker.step(entry)).collect::<Result<Vec<_>, _>>()?;
        let origins = maker.origins();
        let mut names = StepNames { has_one_origin: origins.iter().count() == 1, names: UniqueNames::default() };
        for (entry, step) in file.entries.iter().zip(&mut steps) {
            step.name = names.unique(entry, step);
        }
        let name = name.to_owned();
        let moves = step_sequence(&file)?;
        let weight = file.weight;
        let names = file.names;
        let flow = Flow {
            name,
            weight,
            first_step: 0,
            steps,
            moves,
            names,
            initial,
            built_ins,
            rows,
            origins,
            is_http2: false,
        };
        flow.check_protocol()?;
        flow.check_first_request()?;
        Ok(flow)
    }

    /// Returns the origins of its requests, at least one. In a single flow, the first request goes to the first origin.
    pub fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.origins.iter().map(|origin| &origin.origin)
    }

    /// Returns the name of the flow.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its weight relative to the other flows of a run, from 1 to 1,000,000.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// Returns the names of its variables, including the variables that it sets itself.
    pub fn variable_names(&self) -> &[String] {
        &self.names
    }

    /// Returns true if a session begins with the values of a row.
    pub fn uses_rows(&self) -> bool {
        self.rows.is_some()
    }

    /// Returns the number of requests of a completed session, without redirects.
    pub fn requests_per_session(&self) -> u32 {
        self.moves.len() as u32
    }

    /// Returns true if an answer may lead to a further request of its step, so that sessions vary in length.
    pub fn asks_again(&self) -> bool {
        self.steps.iter().any(Step::asks_again)
    }

    /// Returns true if the answer of any step is a stream.
    pub fn has_streams(&self) -> bool {
        self.steps.iter().any(|step| step.reading.is_stream)
    }

    /// Returns the flow as the books see it.
    pub fn itinerary(&self) -> Itinerary {
        let place =
            |step: &Step| ItineraryStep { name: step.name.clone(), line: step.line, asks_again: step.asks_again() };
        Itinerary {
            name: self.name.clone(),
            weight: self.weight,
            first_step: self.first_step,
            steps: self.steps.iter().map(place).collect(),
            moves: Some(self.moves.clone()),
        }
    }

    /// Returns the targets of a run, one per step. Only the first step can have its whole request before the run.
    /// With `is_sample` it is the same in each run of the same load.
    pub(crate) fn targets(&self, is_first_whole: bool, is_sample: bool) -> Vec<TargetRequests> {
        let first = is_first_whole.then(|| self.first_request(0, is_sample).1);
        let of_step = |(nth, step): (usize, &Step)| {
            let mut target =
                TargetRequests::new(step.method.clone(), step.url.clone(), self.weight).named(step.name.clone());
            target = target.at_origin(step.request.origin);
            match first.as_ref().filter(|_| nth == 0) {
                Some(first) => target.push(first),
                None => target.push_message(&mixed(hash_of(&step.request), self.first_step).to_le_bytes()),
            }
            target
        };
        self.steps.iter().enumerate().map(of_step).collect()
    }

    /// Checks that the first request, which depends on no answer, can be made with each row.
    pub(crate) fn check_first_request(&self) -> Result<(), FlowError> {
        let rows = self.rows.as_ref().map_or(1, |rows| rows.len());
        let Some(row) = (0..rows).find(|row| !self.first_request(*row, true).0) else { return Ok(()) };
        let of_row = self.rows.as_ref().map_or_else(String::new, |_| format!(" with row {}", row + 1));
        let of_message = self.steps[0].request.body.problem(&mut self.scope_of_row(row, true));
        let problem = of_message.unwrap_or_else(|| "a value in it has no text that can stand there".to_owned());
        let problem = format!("the first request cannot be made{of_row}: {problem}");
        Err(FlowError::new(self.steps[0].line, problem))
    }

    fn scope_of_row(&self, row: usize, is_sample: bool) -> Scope {
        let mut scope = Scope { is_sample, ..self.sample_scope() };
        self.rows.iter().for_each(|rows| rows.fill(row, &mut scope.values));
        scope
    }

    /// Returns the scope of a session that stands for all.
    pub(crate) fn sample_scope(&self) -> Scope {
        Scope::sample(self.initial.clone(), Arc::clone(&self.built_ins))
    }

    fn first_request(&self, row: usize, is_sample: bool) -> (bool, RequestParts) {
        let mut scope = self.scope_of_row(row, is_sample);
        let mut body = Vec::new();
        let mut target = String::new();
        let mut out = RequestParts::default();
        let is_set = self.steps[0].set_variables(&mut scope);
        let jar = CookieJar::default();
        let now = Timestamp::ZERO;
        let body = &mut body;
        let target = &mut target;
        let is_http2 = self.is_http2;
        let site = &self.origins.get(self.steps[0].request.origin).site;
        let mut sender = Sender { scope: &mut scope, jar: &jar, site, now, body, target, is_http2 };
        let is_made = self.steps[0].request.write(&mut sender, &mut out).is_ok();
        (is_set && is_made, out)
    }
}

/// Returns a hash that identifies a request that depends on answers.
fn hash_of(request: &StepRequest) -> u64 {
    struct Hash(u64);
    impl fmt::Write for Hash {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 = text.bytes().fold(self.0, |hash, byte| mix64(hash ^ u64::from(byte)));
            Ok(())
        }
    }
    let mut hash = Hash(0);
    // The target of the step already has the origin.
    let request = StepRequest { origin: 0, ..request.clone() };
    // Writing to a hash does not fail.
    let _ = fmt::Write::write_fmt(&mut hash, format_args!("{request:?}"));
    hash.0
}

/// Mixes a step's hash with the flow's first step, because the same steps in different flows are different load.
fn mixed(hash: u64, first_step: u32) -> u64 {
    if first_step == 0 { hash } else { mix64(hash ^ u64::from(first_step)) }
}

fn initial_values(file: &FlowFile, variables: &[(String, String)]) -> Vec<Option<Value>> {
    let given: HashMap<&str, &str> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    file.names.iter().map(|name| given.get(name.as_str()).map(|value| typed(value))).collect()
}

/// Returns the variables that have the name of a built-in value and get no other value. Other values are given by the
/// user, captured, or set by the flow.
fn built_ins(file: &FlowFile, initial: &[Option<Value>], rows: Option<&RowTable>) -> Arc<[(VariableId, BuiltIn)]> {
    let set = file.entries.iter().flat_map(|entry| entry.options.variables.iter().map(|(variable, _)| *variable));
    let expected = file.entries.iter().filter_map(|entry| entry.response.as_ref());
    let captured = expected.flat_map(|expected| expected.captures.iter().map(|capture| capture.variable));
    let of_rows = rows.into_iter().flat_map(|rows| rows.variables.iter().copied());
    let known: BTreeSet<VariableId> = set.chain(captured).chain(of_rows).collect();
    let unknown = (0..initial.len()).filter(|id| initial[*id].is_none() && !known.contains(id));
    unknown.filter_map(|id| Some((id, BuiltIn::parse(&file.names[id])?.ok()?))).collect()
}

/// Refuses a variable that has no value when it is needed.
fn check_variables(
    file: &FlowFile,
    initial: &[Option<Value>],
    rows: Option<&RowTable>,
    built_ins: &[(VariableId, BuiltIn)],
) -> Result<(), FlowError> {
    let given = (0..initial.len()).filter(|id| initial[*id].is_some());
    let of_rows = rows.into_iter().flat_map(|rows| rows.variables.iter().copied());
    let built_in = built_ins.iter().map(|(variable, _)| *variable);
    let mut known: BTreeSet<VariableId> = given.chain(of_rows).chain(built_in).collect();
    for entry in &file.entries {
        for (variable, setting) in &entry.options.variables {
            if let Setting::Text(template) = setting {
                check(file, entry.line, template.variables(), &known)?;
            }
            known.insert(*variable);
        }
        check(file, entry.line, entry.variables().chain(entry.options.coming.only_while), &known)?;
        let Some(expected) = &entry.response else { continue };
        for capture in &expected.captures {
            check(file, capture.line, capture.look.variables().into_iter(), &known)?;
            known.insert(capture.variable);
        }
        for assert in &expected.asserts {
            let needed = assert.look.variables().into_iter().chain(assert.predicate.variables());
            check(file, assert.line, needed, &known)?;
        }
        for (line, (name, value)) in &expected.headers {
            check(file, *line, name.variables().chain(value.variables()), &known)?;
        }
    }
    Ok(())
}

fn check(
    file: &FlowFile,
    line: usize,
    mut needed: impl Iterator<Item = VariableId>,
    known: &BTreeSet<VariableId>,
) -> Result<(), FlowError> {
    match needed.find(|variable| !known.contains(variable)) {
        None => Ok(()),
        Some(variable) => {
            let name = &file.names[variable];
            let help = format!("capture it in a request before, or give --variable {name}=VALUE");
            Err(FlowError::new(line, format!("the variable {name} has no value here; {help}")))
        }
    }
}

fn step_sequence(file: &FlowFile) -> Result<Vec<u32>, FlowError> {
    let mut moves = Vec::new();
    for (step, entry) in (0..).zip(&file.entries) {
        let times = entry.options.repeat.unwrap_or(1) as usize;
        if moves.len() + times > MAX_SESSION_STEPS {
            return Err(FlowError::new(
                entry.line,
                format!("a session has more than {MAX_SESSION_STEPS} requests, the limit"),
            ));
        }
        moves.extend(std::iter::repeat_n(step, times));
    }
    Ok(moves)
}

/// Unique names of steps. Unnamed steps are called by method and path, or with several origins by method and URL. Calls
/// all have the same method, so only the path or the URL is in their names.
struct StepNames {
    has_one_origin: bool,
    names: UniqueNames,
}

impl StepNames {
    fn unique(&mut self, entry: &Entry, step: &Step) -> String {
        let place = if self.has_one_origin { split_origin(&step.url).1 } else { &step.url };
        let usual = || match step.call() {
            Some(_) => place.trim_start_matches('/').to_owned(),
            None => format!("{} {place}", step.method.as_str()),
        };
        let name = entry.name.clone().unwrap_or_else(usual);
        self.names.unique(name)
    }
}
