//! A test plan of JMeter as flows with a truetail.toml.
//!
//! | file | content |
//! |---|---|
//! | `element` | the plan as a tree of elements |
//! | `text` | texts with variables and functions |
//! | `group` | a thread group: its load, and its samplers in their order |
//! | `scope` | elements that hold for several samplers |
//! | `sampler` | a request with its assertions and extractors |

mod element;
mod group;
mod sampler;
mod scope;
mod text;

use crate::ImportError;
use crate::ways::load::entry::{Common, Entry};
use crate::ways::load::text::{plain_name, unused};
use crate::ways::load::{Converted, LoadFiles, Session};
use crate::ways::shown;

use element::Element;
use group::Group;
use scope::Scope;
use text::Variables;

/// Limit on the thread groups of a plan.
const MAX_GROUPS: usize = 100;

/// Makes flows and a truetail.toml from a test plan of JMeter called `name`.
///
/// # Errors
/// [`ImportError`], if it is no test plan, or none of its requests can be sent.
pub fn load_of_jmx(bytes: &[u8], name: &str) -> Result<LoadFiles, ImportError> {
    let elements = element::read(bytes)?;
    let mut plan = Plan { stem: plain_name(name.split('.').next().unwrap_or_default()), ..Plan::default() };
    let mut scope = Scope::default();
    for element in &elements {
        plan.variables(element, "TestPlan.user_defined_variables");
        scope.take(&element.children, &mut plan.variables);
        plan.groups(&element.children, &scope);
    }
    let remarks = plan.remarks;
    let has_setup = plan.setup.is_some();
    plan.entries.iter_mut().for_each(|entry| entry.has_setup = has_setup);
    let common = Common::default();
    let converted = Converted {
        name: shown(name),
        marked: remarks.len(),
        remarks,
        setup: plan.setup,
        entries: plan.entries,
        common,
        max_redirects: Some(0),
    };
    converted.files()
}

#[derive(Default)]
struct Plan {
    stem: String,
    variables: Variables,
    remarks: Vec<String>,
    setup: Option<Session>,
    entries: Vec<Entry>,
}

impl Plan {
    fn variables(&mut self, element: &Element, property: &str) {
        for part in element.parts(property) {
            scope::take_arguments(part, &mut self.variables);
        }
    }

    fn groups(&mut self, elements: &[Element], scope: &Scope) {
        for element in elements {
            match element.class.as_str() {
                "ThreadGroup" | "OpenModelThreadGroup" if self.entries.len() < MAX_GROUPS => {
                    let mut entry = Group::read(element, scope, &self.variables).entry(element);
                    entry.name = unused(entry.name, |name| self.entries.iter().any(|other| other.name == name));
                    entry.file = format!("{}-{}.hurl", self.stem, entry.name);
                    self.entries.push(entry);
                }
                "SetupThreadGroup" if self.setup.is_none() => {
                    let session = Group::read(element, scope, &self.variables).session();
                    self.setup = (!session.steps.is_empty()).then_some(session);
                }
                class if scope::is_scope(class) => {}
                class => self.remarks.push(format!("not read: {} '{}'", shown(class), shown(&element.name))),
            }
        }
    }
}
