use std::collections::BTreeMap;

/// The meaning of each placeholder, by name. Different meanings get different names.
#[derive(Default)]
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    /// Returns the placeholder for `what`, such as `path /users/`, in a path. The description calls it `wanted`.
    pub(super) fn placeholder(&mut self, wanted: &str, what: &str, path: &str) -> String {
        let wanted = letters(wanted);
        let segment = path.split('/').rev().find(|part| !part.is_empty() && !part.starts_with('{'));
        let longer = format!("{}_{wanted}", letters(segment.unwrap_or("root")));
        let numbered = (2..).map(|n| format!("{longer}_{n}"));
        let mut candidates = [wanted.clone(), longer.clone()].into_iter().chain(numbered);
        let is_free = |name: &String| self.0.get(name).is_none_or(|stands_for| stands_for == what);
        let name = candidates.find(is_free).expect("there are always more numbers");
        self.0.insert(name.clone(), what.to_owned());
        format!("{{{{{name}}}}}")
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

/// Replaces characters that a name cannot have.
fn letters(text: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    text.chars().map(kept).collect()
}
