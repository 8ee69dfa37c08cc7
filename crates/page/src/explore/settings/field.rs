//! The numbers on the page, each with its key in a link, its unit and its range.

/// A number that a slider sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Field {
    Rate,
    Duration,
    Users,
    Baseline,
    Concurrency,
    StallAt,
    StallFor,
    StallEvery,
    StallTimes,
    RampFrom,
    RampTo,
    RampTarget,
    NthEvery,
    NthPause,
    Connections,
    Timeout,
    Drain,
}

/// The unit of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A count.
    Count,
    /// Requests per second.
    PerSecond,
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
}

impl Unit {
    /// Returns the unit as text after a number.
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::Count => "",
            Unit::PerSecond => "/s",
            Unit::Seconds => "s",
            Unit::Milliseconds => "ms",
        }
    }

    /// Returns the nanoseconds in one unit; `None` if it is not a unit of time.
    pub const fn nanos(self) -> Option<f64> {
        match self {
            Unit::Count | Unit::PerSecond => None,
            Unit::Seconds => Some(1e9),
            Unit::Milliseconds => Some(1e6),
        }
    }
}

/// Mapping from positions on a slider to numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// Equal steps are equal differences.
    Linear,
    /// Equal steps are equal factors.
    Log,
}

/// Description of a field.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FieldSpec {
    /// Name in a link.
    pub key: &'static str,
    /// Name on the page.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
    /// Scale of the slider.
    pub scale: Scale,
    /// Value that the page sets when the field is switched on.
    pub typical: f64,
    /// Label of the checkbox that switches the field on; `None` if the field is always present or belongs to another.
    pub switch: Option<&'static str>,
}

impl Field {
    /// Every field.
    pub const ALL: [Field; 17] = [
        Field::Rate,
        Field::Duration,
        Field::Users,
        Field::Baseline,
        Field::Concurrency,
        Field::StallAt,
        Field::StallFor,
        Field::StallEvery,
        Field::StallTimes,
        Field::RampFrom,
        Field::RampTo,
        Field::RampTarget,
        Field::NthEvery,
        Field::NthPause,
        Field::Connections,
        Field::Timeout,
        Field::Drain,
    ];

    /// Returns the description of the field.
    pub const fn spec(self) -> FieldSpec {
        use Scale::{Linear, Log};
        use Unit::{Count, Milliseconds, PerSecond, Seconds};
        match self {
            Field::Rate => number("rate", "Request rate", PerSecond, (1.0, 20_000.0), Log, 1_000.0),
            Field::Duration => number("duration", "Duration", Seconds, (1.0, 120.0), Log, 60.0),
            Field::Users => number("users", "Users", Count, (1.0, 1_000.0), Log, 10.0),
            Field::Baseline => number("baseline", "Service time", Milliseconds, (0.01, 1_000.0), Log, 10.0),
            Field::Concurrency => number("concurrency", "Requests at once", Count, (1.0, 2_000.0), Log, 10.0)
                .switched("Limit how many it processes at once"),
            Field::StallAt => number("stall-at", "First stall at", Seconds, (0.0, 120.0), Linear, 30.0),
            Field::StallFor => number("stall-for", "Length", Milliseconds, (1.0, 20_000.0), Log, 1_000.0),
            Field::StallEvery => number("stall-every", "Every", Seconds, (0.01, 120.0), Log, 10.0).switched("Repeat"),
            Field::StallTimes => {
                number("stall-times", "Stalls", Count, (1.0, 1_000.0), Log, 6.0).switched("Limit the number of stalls")
            }
            Field::RampFrom => number("ramp-from", "From", Seconds, (0.0, 120.0), Linear, 20.0),
            Field::RampTo => number("ramp-to", "To", Seconds, (0.0, 120.0), Linear, 50.0),
            Field::RampTarget => number("ramp-target", "New time", Milliseconds, (0.01, 10_000.0), Log, 100.0),
            Field::NthEvery => number("nth", "n", Count, (2.0, 100_000.0), Log, 500.0),
            Field::NthPause => number("nth-pause", "Service time", Milliseconds, (0.1, 10_000.0), Log, 200.0),
            Field::Connections => number("connections", "Connections", Count, (1.0, 5_000.0), Log, 100.0)
                .switched("Cap the connections of the client"),
            Field::Timeout => {
                number("timeout", "Timeout", Seconds, (0.01, 120.0), Log, 30.0).switched("Give up after a timeout")
            }
            Field::Drain => number("drain", "Drain", Seconds, (1.0, 86_400.0), Log, 30.0),
        }
    }
}

const fn number(
    key: &'static str,
    label: &'static str,
    unit: Unit,
    (least, most): (f64, f64),
    scale: Scale,
    typical: f64,
) -> FieldSpec {
    FieldSpec { key, label, unit, least, most, scale, typical, switch: None }
}

impl FieldSpec {
    const fn switched(self, by: &'static str) -> FieldSpec {
        FieldSpec { switch: Some(by), ..self }
    }

    /// Formats the range for a message.
    pub fn range(&self) -> String {
        let unit = self.unit.symbol();
        format!("{}{unit} to {}{unit}", self.least, self.most)
    }
}
