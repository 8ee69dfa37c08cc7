//! The number of rounds, the looks at the result, and the cost of the looks.

/// Maximum share of equal pairs that are called different, over all looks together.
const ERROR: f64 = 0.05;
/// The first look. With fewer runs a side, the variance between runs is hardly known.
const FIRST_LOOK: u32 = 3;

/// End of the rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// After this many rounds.
    After(u32),
    /// As soon as every condition is decided, after at most `most` rounds.
    Decided {
        /// Maximum number of rounds.
        most: u32,
    },
}

impl Ending {
    /// Returns the maximum number of rounds.
    pub fn most(self) -> u32 {
        match self {
            Ending::After(rounds) => rounds,
            Ending::Decided { most } => most,
        }
    }

    /// Returns the rounds that are followed by a look at the result, in ascending order. The last round is one of them.
    /// With [`Ending::Decided`], the others are 3, 5, 8, 12, …: each is one and a half times the one before, rounded
    /// up.
    pub fn looks(self) -> Vec<u32> {
        let most = self.most();
        let early = match self {
            Ending::After(_) => Vec::new(),
            Ending::Decided { .. } => {
                let next = |rounds: &u32| Some(rounds + rounds.div_ceil(2));
                std::iter::successors(Some(FIRST_LOOK), next).take_while(|rounds| *rounds < most).collect()
            }
        };
        early.into_iter().chain([most]).collect()
    }

    /// Returns the confidence of every interval: 95 % for a single look. Several looks share the 5 % equally, so that
    /// all of them together are wrong in at most 5 % of comparisons (Bonferroni).
    pub fn confidence(self) -> f64 {
        match self.looks().len() {
            1 => 1.0 - ERROR,
            looks => 1.0 - ERROR / looks as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_ever_more_rarely_and_one_at_the_end() {
        assert_eq!(Ending::Decided { most: 20 }.looks(), [3, 5, 8, 12, 18, 20]);
        assert_eq!(Ending::Decided { most: 12 }.looks(), [3, 5, 8, 12]);
        assert_eq!(Ending::Decided { most: 3 }.looks(), [3]);
        assert_eq!(Ending::Decided { most: 2 }.looks(), [2]);
        assert_eq!(Ending::After(5).looks(), [5]);
    }

    #[test]
    fn looks_share_the_error() {
        assert_eq!(Ending::After(5).confidence(), 0.95);
        assert_eq!(Ending::Decided { most: 12 }.confidence(), 0.9875);
        assert_eq!(Ending::Decided { most: 3 }.confidence(), 0.95);
    }
}
