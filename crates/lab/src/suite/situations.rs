//! The situations of the suite.

use truetail_analysis::league::Question;

/// A situation that a load tool should report truly.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// Name of the situation, its scenario and its folder.
    pub name: &'static str,
    /// The sentence that it tests.
    pub tests: &'static str,
    /// The text or scenario that it comes from.
    pub source: &'static str,
    /// Its scenario as TOML.
    pub scenario: &'static str,
    /// The question to the tool's report.
    pub question: Question,
    /// What it needs beside an ordinary server.
    pub needs: Needs,
}

/// Something that a situation needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    /// A server that answers in HTTP/1.1.
    Server,
    /// A port that refuses connections.
    ClosedPort,
    /// HTTP/2 of server and tool.
    Http2,
    /// A tool that measures streams.
    Streams,
}

const ARTICLE: &str = "Coordinated Omission: Why Your Latency Numbers Lie";
const ROUTER: &str = "Coordinated Omission and Why Your P99 Latency Is Probably a Lie";

macro_rules! scenario {
    ($name:literal) => {
        include_str!(concat!("../../../../scenarios/suite/", $name, ".toml"))
    };
}

/// Every situation, in the order of the suite.
pub const SITUATIONS: [Situation; 12] = [
    Situation {
        name: "stall",
        tests: "A request that falls due while the service stands still waits, and its wait is in the tail.",
        source: ARTICLE,
        scenario: scenario!("stall"),
        question: Question::TailDuringStalls,
        needs: Needs::Server,
    },
    Situation {
        name: "pauses",
        tests: "Short pauses that recur are in the tail as well as a long one.",
        source: ARTICLE,
        scenario: scenario!("pauses"),
        question: Question::TailDuringStalls,
        needs: Needs::Server,
    },
    Situation {
        name: "slow-ramp",
        tests: "While the service slows down, the load stays the same, so slow answers are not underrepresented.",
        source: ARTICLE,
        scenario: scenario!("slow-ramp"),
        question: Question::Percentiles,
        needs: Needs::Server,
    },
    Situation {
        name: "refused",
        tests: "If no server listens, the report cannot be taken for a good one.",
        source: "captures of refused connections in testdata/tools",
        scenario: scenario!("refused"),
        question: Question::Refusal,
        needs: Needs::ClosedPort,
    },
    Situation {
        name: "resets",
        tests: "A request that ends with a reset connection is counted as failed.",
        source: "fault reset of the scenario files",
        scenario: scenario!("resets"),
        question: Question::Failures,
        needs: Needs::Server,
    },
    Situation {
        name: "timeouts",
        tests: "A request that times out is counted as failed, and p99 does not look better for it.",
        source: "fault black-hole of the scenario files",
        scenario: scenario!("timeouts"),
        question: Question::Timeouts,
        needs: Needs::Server,
    },
    Situation {
        name: "fast-errors",
        tests: "Errors that come back fast are counted as errors.",
        source: "fault error-status of the scenario files",
        scenario: scenario!("fast-errors"),
        question: Question::ErrorAnswers,
        needs: Needs::Server,
    },
    Situation {
        name: "saturation",
        tests: "If the service cannot keep up, the growing wait is in the median, or the report says that requests were not sent.",
        source: ARTICLE,
        scenario: scenario!("saturation"),
        question: Question::Overload,
        needs: Needs::Server,
    },
    Situation {
        name: "low-rate",
        tests: "Five requests a second are five requests a second.",
        source: "scenario 01-healthy",
        scenario: scenario!("low-rate"),
        question: Question::Rate,
        needs: Needs::Server,
    },
    Situation {
        name: "high-rate",
        tests: "Three thousand requests a second are offered, and the tool adds nothing to the median.",
        source: ROUTER,
        scenario: scenario!("high-rate"),
        question: Question::Rate,
        needs: Needs::Server,
    },
    Situation {
        name: "http2",
        tests: "The wait during a stall is in the tail over HTTP/2 too.",
        source: ARTICLE,
        scenario: scenario!("http2"),
        question: Question::TailDuringStalls,
        needs: Needs::Http2,
    },
    Situation {
        name: "stream",
        tests: "In a stream of server-sent events, a stall before the first token and one between tokens are in their tails.",
        source: "scenario 06-model-that-stalls",
        scenario: scenario!("stream"),
        question: Question::Streams,
        needs: Needs::Streams,
    },
];
