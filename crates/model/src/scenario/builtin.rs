//! The built-in scenarios: the folders of `scenarios/` in the repository.

use super::Scenario;

const TEXTS: [(&str, &str); 8] = [
    ("01-healthy", include_str!("../../../../scenarios/01-healthy/scenario.toml")),
    ("02-single-hiccup", include_str!("../../../../scenarios/02-single-hiccup/scenario.toml")),
    ("03-sustained-slowdown", include_str!("../../../../scenarios/03-sustained-slowdown/scenario.toml")),
    ("04-gc-pauses", include_str!("../../../../scenarios/04-gc-pauses/scenario.toml")),
    ("05-saturation", include_str!("../../../../scenarios/05-saturation/scenario.toml")),
    ("05-saturation-not-binding", include_str!("../../../../scenarios/05-saturation-not-binding/scenario.toml")),
    ("06-model-that-stalls", include_str!("../../../../scenarios/06-model-that-stalls/scenario.toml")),
    ("07-login-that-stalls", include_str!("../../../../scenarios/07-login-that-stalls/scenario.toml")),
];

/// Error of a name that is not the name of a scenario.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FindError {
    /// No name begins with this text.
    #[error("there is no scenario '{0}'; use one of {names}, or a file", names = listed(&names()))]
    Unknown(String),
    /// Several names begin with this text.
    #[error("'{given}' could be {candidates}; write more of the name", candidates = listed(candidates))]
    Ambiguous {
        /// The given text.
        given: String,
        /// Names that begin with it.
        candidates: Vec<&'static str>,
    },
}

fn listed(names: &[&str]) -> String {
    names.join(", ")
}

/// Returns all names, in order.
pub fn names() -> Vec<&'static str> {
    TEXTS.iter().map(|(name, _)| *name).collect()
}

/// Returns all scenarios, in order.
pub fn all() -> Vec<Scenario> {
    TEXTS.iter().map(|(name, text)| read(name, text)).collect()
}

/// Returns the scenario with this name, or with a name that begins like this, such as `02`. If several names begin like
/// this and one of them is the beginning of all others, returns that one: `05` is `05-saturation`, and not
/// `05-saturation-not-binding`.
///
/// # Errors
/// [`FindError`] lists all names, or the candidates.
pub fn find(name: &str) -> Result<Scenario, FindError> {
    text(name).map(|(name, text)| read(name, text))
}

/// Returns the name and the TOML text of the scenario that [`find`] finds.
/// Fails like [`find`].
pub fn text(name: &str) -> Result<(&'static str, &'static str), FindError> {
    let candidates: Vec<_> =
        TEXTS.into_iter().filter(|(known, _)| !name.is_empty() && known.starts_with(name)).collect();
    let meant = candidates.iter().find(|(short, _)| candidates.iter().all(|(known, _)| known.starts_with(short)));
    match meant {
        Some(found) => Ok(*found),
        None if candidates.is_empty() => Err(FindError::Unknown(name.to_owned())),
        None => {
            let candidates = candidates.into_iter().map(|(known, _)| known).collect();
            Err(FindError::Ambiguous { given: name.to_owned(), candidates })
        }
    }
}

fn read(name: &str, text: &str) -> Scenario {
    let file = format!("scenarios/{name}/scenario.toml");
    Scenario::parse(text, &file).unwrap_or_else(|error| panic!("a test reads every scenario: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_is_read_and_has_its_folders_name() {
        let scenarios = all();
        assert_eq!(scenarios.len(), TEXTS.len());
        for (scenario, name) in scenarios.iter().zip(names()) {
            assert_eq!(scenario.name, name);
            assert!(!scenario.about.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_beginning_is_enough_where_it_is_clear() {
        for (given, found) in [
            ("02", "02-single-hiccup"),
            ("02-single-hiccup", "02-single-hiccup"),
            ("05", "05-saturation"),
            ("05-saturation", "05-saturation"),
            ("05-saturation-", "05-saturation-not-binding"),
        ] {
            assert_eq!(find(given).unwrap().name, found);
        }
    }

    #[test]
    fn what_is_not_found_says_what_there_is() {
        let unknown = find("nonsense").unwrap_err().to_string();
        assert!(names().iter().all(|name| unknown.contains(name)), "{unknown}");
        let ambiguous = find("0").unwrap_err();
        assert!(matches!(&ambiguous, FindError::Ambiguous { candidates, .. } if candidates.len() == TEXTS.len()));
        assert!(matches!(find(""), Err(FindError::Unknown(_))));
    }
}
