//! Labels of a run: statements about it that its load does not determine.

use std::collections::BTreeMap;
use std::env;

use truetail_run::Facts;

use crate::args::labels::{LabelArgs, Tag};

/// Labels of a run.
#[derive(Clone, Default, Debug)]
pub(crate) struct RunLabels {
    /// Name of the run or of its scenario.
    pub name: Option<String>,
    /// Command line, without secrets.
    pub command: Option<String>,
    /// Labels by key.
    pub tags: BTreeMap<String, String>,
}

/// Variables that build servers set, by the label that their value becomes. The first that is set counts.
///
/// GitHub Actions, GitLab, Jenkins, CircleCI, Buildkite, Azure Pipelines, Bitbucket, Travis, Drone.
const VARIABLES: [(&str, &[&str]); 3] = [
    (
        "commit",
        &[
            "GITHUB_SHA",
            "CI_COMMIT_SHA",
            "GIT_COMMIT",
            "CIRCLE_SHA1",
            "BUILDKITE_COMMIT",
            "BUILD_SOURCEVERSION",
            "BITBUCKET_COMMIT",
            "TRAVIS_COMMIT",
            "DRONE_COMMIT_SHA",
        ],
    ),
    (
        "branch",
        &[
            // Of a pull request, GITHUB_REF_NAME is the number of the merge.
            "GITHUB_HEAD_REF",
            "GITHUB_REF_NAME",
            "CI_COMMIT_REF_NAME",
            "GIT_BRANCH",
            "CIRCLE_BRANCH",
            "BUILDKITE_BRANCH",
            "BUILD_SOURCEBRANCHNAME",
            "BITBUCKET_BRANCH",
            "TRAVIS_BRANCH",
            "DRONE_BRANCH",
        ],
    ),
    (
        "job",
        &[
            "GITHUB_RUN_ID",
            "CI_JOB_ID",
            "BUILD_TAG",
            "CIRCLE_BUILD_NUM",
            "BUILDKITE_BUILD_NUMBER",
            "BUILD_BUILDID",
            "BITBUCKET_BUILD_NUMBER",
            "TRAVIS_JOB_ID",
            "DRONE_BUILD_NUMBER",
        ],
    ),
];

impl RunLabels {
    /// Returns the labels of a run with this command line: those of the environment, replaced by those of the user.
    pub(crate) fn new(args: &LabelArgs, command: String) -> RunLabels {
        let mut tags = of_environment(|name| env::var(name).ok());
        tags.extend(args.tag.iter().map(|Tag { key, value }| (key.clone(), value.clone())));
        RunLabels { name: args.name.clone(), command: Some(command), tags }
    }

    /// Adds the labels to a run.
    pub(crate) fn add_to(self, facts: &mut Facts) {
        facts.offered.name = self.name;
        facts.command = self.command;
        facts.tags = self.tags;
    }
}

/// Returns the labels that these variables hold. A value that no label may have is left out.
fn of_environment(value_of: impl Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
    let label = |(key, names): &(&str, &[&str])| {
        let value = names.iter().find_map(|name| value_of(name).filter(|value| !value.is_empty()))?;
        let tag: Tag = format!("{key}={value}").parse().ok()?;
        Some((tag.key, tag.value))
    };
    VARIABLES.iter().filter_map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_server_says_what_it_builds() {
        let github =
            [("GITHUB_SHA", "abc"), ("GITHUB_HEAD_REF", ""), ("GITHUB_REF_NAME", "main"), ("BUILD_TAG", "x\ny")];
        let tags = of_environment(|name| github.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned()));
        let tags: Vec<_> = tags.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(tags, [("branch", "main"), ("commit", "abc")]);
        assert!(of_environment(|_| None).is_empty());
    }
}
