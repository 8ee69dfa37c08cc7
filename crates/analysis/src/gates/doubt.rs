//! Reasons why the truth may differ from the measurement, and remedies.

use std::fmt;

/// A reason why the truth may differ from the measurement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Doubt {
    /// The percentile needs more arrivals.
    FewArrivals { arrivals: u64, needs_n: u64 },
    /// The generator sent requests late.
    Late,
    /// The generator sent unplanned bursts.
    Bursts,
    /// The service got less load than requested.
    LowerLoad,
    /// The generator sent as much as it could.
    GeneratorBound,
    /// The generator had no local port or file descriptor left.
    GeneratorFailures { arrivals: u64 },
    /// The backlog kept growing.
    Saturated,
    /// Requests were given up before they were answered.
    Censored,
    /// Requests were given up because the run was stopped.
    Stopped { arrivals: u64 },
    /// The mean includes arrivals without an answer.
    MeanOfUnanswered { arrivals: u64 },
    /// Error events of streams are not counted by target.
    StreamErrors { answers: u64 },
    /// One answer may have failed several checks.
    SeveralChecks,
    /// No arrival has this time.
    NotMeasured,
    /// No arrival was planned, or too few for a rate.
    NoArrivals,
    /// No check was set, or nothing was answered.
    NoChecks,
    /// The run started no command.
    NoEvents,
    /// The effect of an event could not be judged.
    EventNotJudged,
    /// The percentile was not back within its band.
    NotRecovered,
    /// The end of an effect is known within an interval.
    RecoveryInterval,
    /// Only a part of the requests is kept.
    SampledEffects,
    /// Answers were not read as streams.
    NoStreams,
    /// The run had no flow.
    NoSessions,
    /// Answers were not read as answers of a language model.
    NoLlm,
    /// No objective of each request was set.
    NoGoodput,
    /// It is not known whether these answers met the objectives of each request.
    GoodputUnknown { answers: u64 },
    /// The time per output token of some answers is unknown.
    TokensUnknown { answers: u64 },
    /// Some times of language models are unknown, because events were not understood.
    NotUnderstood { values: u64 },
    /// Some times of language models are unknown, because the server was asked to repeat the prompt.
    PromptRepeated { values: u64 },
    /// The run has no target of this name.
    NoSuchTarget { known: Vec<String> },
    /// Sessions are not compared with objectives of each request.
    NoSessionGoodput,
    /// This number of sessions met all objectives that can be told, and others cannot.
    SessionGoodputUnknown { sessions: u64 },
    /// Sessions follow no flow of this name. `known` lists the flows if there are several.
    NoSuchFlow { known: Vec<String> },
    /// The run has several targets but did not save their times.
    TargetsNotKept,
    /// The verdict casts doubt on all numbers.
    NothingIsCertain,
}

impl fmt::Display for Doubt {
    /// Writes half a sentence: the doubt, and a remedy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::FewArrivals { arrivals, needs_n } => {
                write!(f, "this percentile needs {needs_n} arrivals, not {arrivals}: run longer or raise the rate")
            },
            Doubt::Late => f.write_str(
                "the generator sent requests late, and part of the time may be its own: use a quieter machine, more threads \
                 or a lower rate",
            ),
            Doubt::Bursts => f.write_str(
                "the generator sent requests in bursts that were not planned: repeat the run on a quieter machine",
            ),
            Doubt::LowerLoad => f.write_str(
                "the service got a lower load than requested: use a faster machine, more threads or a lower rate",
            ),
            Doubt::GeneratorBound => f.write_str(
                "the generator was the limit, and the service could do more: use a faster machine or more threads",
            ),
            Doubt::GeneratorFailures { arrivals } => write!(
                f,
                "{arrivals} requests failed because this machine ran out of local ports or open files: limit the connections \
                 with -c, or raise ulimit -n"
            ),
            Doubt::NoEvents => f.write_str("the run started no command: add --event COMMAND --event-at TIME"),
            Doubt::EventNotJudged => {
                f.write_str("the effect of an event is not known: begin it later, or raise the rate")
            }
            Doubt::NotRecovered => f.write_str("p99 was not back within its band: run longer after the event"),
            Doubt::RecoveryInterval => f.write_str("the limit is inside the interval of the recovery: raise the rate"),
            Doubt::SampledEffects => f.write_str("only a part of the requests is kept: use a shorter run"),
            Doubt::NoStreams => f.write_str("answers were not read as streams: add --stream sse or --stream chunks"),
            Doubt::NoSessions => f.write_str("no session followed a flow: add --flow FILE.hurl"),
            Doubt::NoLlm => f.write_str("answers were not read as those of a language model: add --llm openai-chat"),
            Doubt::NoGoodput => f.write_str(
                "goodput needs to know what each request must meet: add --slo 'ttft < 500ms' or --slo 'tpot < 50ms'",
            ),
            Doubt::NoSessionGoodput => f.write_str(
                "session-goodput is about sessions whose calls have objectives: use --agents FILE.jsonl, and add --slo 'ttft < 500ms'",
            ),
            Doubt::SessionGoodputUnknown { sessions } => {
                write!(f, "{sessions} sessions have an answer that cannot be told to meet the objectives")
            }
            Doubt::GoodputUnknown { answers } => write!(
                f,
                "{answers} answers may have met their objectives or not: the server must count the tokens of each answer \
                 (usage), or --tokenizer, and send events that truetail understands"
            ),
            Doubt::TokensUnknown { answers } => write!(
                f,
                "{answers} answers have no known time per output token, and may have any: the server must count the tokens of \
                 each answer (usage), or --tokenizer, and send it in more than one piece"
            ),
            Doubt::NotUnderstood { values } => write!(
                f,
                "{values} values are not known, and may be any, because events came that truetail does not understand: is the \
                 dialect of --llm right?"
            ),
            Doubt::PromptRepeated { values } => write!(
                f,
                "{values} values are not known, and may be any, because answers begin with their prompts: leave \"echo\": true out \
                 of the body"
            ),
            Doubt::Saturated => {
                f.write_str("the service was overloaded, and this grows with the length of the run: lower the rate")
            }
            Doubt::Censored => {
                f.write_str("requests were given up before they were answered: use a longer --timeout or --drain")
            }
            Doubt::Stopped { arrivals } => {
                write!(f, "{arrivals} requests were given up when the run was stopped: let the run end")
            },
            Doubt::MeanOfUnanswered { arrivals } => write!(
                f,
                "{arrivals} arrivals got no answer, and a mean that includes them has no upper end: set a percentile instead"
            ),
            Doubt::StreamErrors { answers } => write!(
                f,
                "{answers} answers of the run have an error event in their stream, and of which target is not kept: use error-rate \
                 without {{…}}"
            ),
            Doubt::SeveralChecks => {
                f.write_str("an answer that failed several checks counts in each of them: use one check in a run")
            }
            Doubt::NotMeasured => f.write_str("no answer has this time"),
            Doubt::NoArrivals => f.write_str("too few arrivals were measured: run longer or raise the rate"),
            Doubt::NoChecks => f.write_str("no answer was checked: add --check"),
            Doubt::NoSuchFlow { known } if known.is_empty() => f.write_str("the run has one flow only: leave {…} out"),
            Doubt::NoSuchFlow { known } => write!(f, "the run has no such flow; it has {}", known.join(", ")),
            Doubt::NoSuchTarget { known } => write!(f, "the run has no such target; it has {}", known.join(", ")),
            Doubt::TargetsNotKept => f.write_str(
                "this run keeps no response times by target: they are lost where a warm-up was cut off afterwards, and \
                 older versions did not save them",
            ),
            Doubt::NothingIsCertain => f.write_str("the verdict casts doubt on all numbers of this run: see its reasons"),
        }
    }
}
