//! Elements that hold for all samplers of a part of the plan.

use super::element::Element;
use super::text::Variables;
use crate::ways::load::text::plain_name;

/// What holds for all samplers of a part of the plan.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub(super) defaults: Vec<Element>,
    pub(super) headers: Vec<Element>,
    pub(super) assertions: Vec<Element>,
    pub(super) timers: Vec<Element>,
    /// Names of the controllers around.
    pub(super) path: Vec<String>,
}

/// Returns true for elements that a scope takes, and for listeners, which send nothing.
pub(super) fn is_scope(class: &str) -> bool {
    is_assertion(class)
        || is_timer(class)
        || ["Arguments", "ConfigTestElement", "HeaderManager", "CookieManager", "CacheManager", "ResultCollector"]
            .contains(&class)
        || ["BackendListener", "Summariser", "CSVDataSet"].contains(&class)
}

fn is_assertion(class: &str) -> bool {
    let known = ["ResponseAssertion", "JSONPathAssertion", "DurationAssertion", "JSONPostProcessor", "RegexExtractor"];
    known.contains(&class)
}

fn is_timer(class: &str) -> bool {
    ["ConstantTimer", "UniformRandomTimer"].contains(&class)
}

/// Adds the variables of a list of arguments.
pub(super) fn take_arguments(element: &Element, variables: &mut Variables) {
    for argument in element.parts("Arguments.arguments") {
        let name = plain_name(argument.text("Argument.name"));
        let value = argument.text("Argument.value");
        let value = variables.literal(value).unwrap_or_else(|| value.to_owned());
        variables.given.insert(name, value);
    }
}

impl Scope {
    /// Takes those of these elements that hold for their neighbours and everything below them.
    pub(super) fn take(&mut self, elements: &[Element], variables: &mut Variables) {
        for element in elements {
            match element.class.as_str() {
                "Arguments" => take_arguments(element, variables),
                "ConfigTestElement" => self.defaults.push(element.clone()),
                "HeaderManager" => self.headers.push(element.clone()),
                class if is_assertion(class) => self.assertions.push(element.clone()),
                class if is_timer(class) => self.timers.push(element.clone()),
                _ => {}
            }
        }
    }
}
