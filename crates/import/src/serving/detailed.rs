//! The document of `vllm bench serve` and sglang's `bench_serving`: figures by name and, with the option for details, a
//! list for each property of a request. Both tools are in Python, which writes `NaN` and `Infinity`.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The used fields.
#[derive(Default, Debug)]
pub(super) struct Detailed {
    /// Numbers by name, such as `p99_e2el_ms`.
    pub figures: BTreeMap<String, f64>,
    /// Seconds until the first token.
    pub ttfts: Vec<f64>,
    /// Sums of the seconds between tokens.
    pub itls: Vec<Sum>,
    /// Seconds on a clock that began before the run.
    pub start_times: Vec<f64>,
    /// Seconds that a request waited in the client for its limit on concurrency.
    pub queue_times: Vec<f64>,
    /// Empty for requests that succeeded.
    pub errors: Vec<String>,
}

impl<'de> Deserialize<'de> for Detailed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Detailed, D::Error> {
        from.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Detailed;

    fn expecting(&self, into: &mut fmt::Formatter<'_>) -> fmt::Result {
        into.write_str("the object of a benchmark")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Detailed, A::Error> {
        let mut read = Detailed::default();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "ttfts" => read.ttfts = map.next_value()?,
                "itls" => read.itls = map.next_value()?,
                "start_times" => read.start_times = map.next_value()?,
                "queue_times" => read.queue_times = map.next_value()?,
                "errors" => read.errors = map.next_value::<Vec<Text>>()?.into_iter().map(|Text(text)| text).collect(),
                "input_lens" | "output_lens" | "generated_texts" | "latencies" => drop(map.next_value::<IgnoredAny>()?),
                _ => {
                    let number = map.next_value::<Value>()?.as_f64();
                    number.map(|number| read.figures.insert(name, number));
                }
            }
        }
        Ok(read)
    }
}

/// The sum of a list of numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Sum(pub f64);

impl<'de> Deserialize<'de> for Sum {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Sum, D::Error> {
        struct Numbers;
        impl<'de> Visitor<'de> for Numbers {
            type Value = Sum;

            fn expecting(&self, into: &mut fmt::Formatter<'_>) -> fmt::Result {
                into.write_str("a list of times")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Sum, A::Error> {
                let mut sum = 0.0;
                while let Some(number) = list.next_element::<f64>()? {
                    sum += number;
                }
                Ok(Sum(sum))
            }
        }
        from.deserialize_seq(Numbers)
    }
}

/// A text, or an empty one for null.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
        Ok(Text(Option::<String>::deserialize(from)?.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_by_name_and_lists_are_summed() {
        let document = br#"{"request_rate":"inf","completed":2,"itls":[[0.1,0.2],[]],"errors":["",null],"x":[1]}"#;
        let read: Detailed = serde_json::from_slice(document).expect("a document");
        assert_eq!(read.figures.into_iter().collect::<Vec<_>>(), [("completed".to_owned(), 2.0)]);
        assert!((read.itls[0].0 - 0.3).abs() < 1e-12 && read.itls[1] == Sum(0.0));
        assert_eq!(read.errors, ["", ""]);
    }
}
