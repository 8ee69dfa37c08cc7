//! The content of the screen, and its changes by keys.

use crate::keys::Key;

/// The pages of the screen.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Page {
    /// The most important parts of all pages.
    #[default]
    All,
    /// The pictures over time.
    OverTime,
    /// Reasons, statuses, errors and targets in full.
    Answers,
}

impl Page {
    const ALL: [Page; 3] = [Page::All, Page::OverTime, Page::Answers];

    /// Returns the name of the page in the line of keys.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Page::All => "all",
            Page::OverTime => "over time",
            Page::Answers => "answers",
        }
    }

    pub(crate) fn next(self) -> Page {
        self.turned(1)
    }

    /// Returns the page `steps` further, with wrap-around.
    fn turned(self, steps: usize) -> Page {
        let at = Page::ALL.iter().position(|page| *page == self).unwrap_or(0);
        Page::ALL[(at + steps) % Page::ALL.len()]
    }
}

/// State that is kept between two screens: the page and the help.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ScreenState {
    /// The page.
    pub page: Page,
    /// True if the help replaces the page.
    pub help: bool,
}

impl ScreenState {
    /// Returns the state after `key`.
    pub fn after(self, key: Key) -> ScreenState {
        match key {
            Key::Stop | Key::Interrupt => self,
            Key::NextPage => ScreenState { page: self.page.next(), help: false },
            Key::PreviousPage => ScreenState { page: self.page.turned(Page::ALL.len() - 1), help: false },
            Key::Help => ScreenState { help: !self.help, ..self },
            Key::Back if self.help => ScreenState { help: false, ..self },
            Key::Back => ScreenState::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_turn_pages_and_come_back() {
        let start = ScreenState::default();
        let pages: Vec<Page> = std::iter::successors(Some(start), |choice| Some(choice.after(Key::NextPage)))
            .map(|choice| choice.page)
            .take(4)
            .collect();
        assert_eq!(pages, [Page::All, Page::OverTime, Page::Answers, Page::All]);
        assert_eq!(start.after(Key::PreviousPage).page, Page::Answers);
        let help = start.after(Key::NextPage).after(Key::Help);
        assert_eq!(help, ScreenState { page: Page::OverTime, help: true });
        assert_eq!(help.after(Key::Back), help.after(Key::Help));
        assert_eq!(help.after(Key::Back).after(Key::Back), start);
        assert_eq!(help.after(Key::Stop), help);
    }
}
