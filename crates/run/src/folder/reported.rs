//! `server-timing.csv`: the times that the service reported, a row for each request that the run keeps, in the order of
//! their indices. The first column is the index, and each other one has the name of a part and times in nanoseconds. A
//! field is blank if the answer had no such time. The file exists only if times were reported.

use std::io::{self, Read, Write};

use truetail_model::time::Nanos;

use super::LineError;
use crate::limits::LONGEST_NS;
use crate::{ReportedTimes, ServerTiming};

pub(super) fn write(out: impl Write, timing: &ServerTiming) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(std::iter::once("index").chain(timing.names.iter().map(String::as_str)))?;
    for times in &timing.times {
        let fields = (0..timing.names.len()).map(|place| times.get(place).map(|time| time.0));
        csv.serialize((times.index(), fields.collect::<Vec<_>>()))?;
    }
    csv.flush()
}

/// Reads the times of the parts with these names.
pub(super) fn read(input: impl Read, names: &[String]) -> Result<Vec<ReportedTimes>, LineError> {
    let mut csv = csv::Reader::from_reader(input);
    let headers = csv.headers().map_err(LineError::from_csv)?;
    if !headers.iter().eq(std::iter::once("index").chain(names.iter().map(String::as_str))) {
        return Err(LineError { line: 1, problem: "its columns are not the names in run.json".to_owned() });
    }
    let mut all: Vec<ReportedTimes> = Vec::new();
    for row in csv.deserialize() {
        let (index, times): (u64, Vec<Option<u64>>) = row.map_err(LineError::from_csv)?;
        let line = all.len() as u64 + 2;
        if all.last().is_some_and(|last| last.index() >= index) {
            return Err(LineError { line, problem: format!("index {index} does not follow the one before") });
        }
        let mut reported = ReportedTimes::none(index);
        for (place, time) in times.into_iter().enumerate().filter_map(|(place, time)| Some((place, time?))) {
            if time > LONGEST_NS {
                return Err(LineError { line, problem: format!("a time is {time} ns, which is impossible") });
            }
            reported.add(place, Nanos(time));
        }
        all.push(reported);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_were_written() {
        let mut times = vec![ReportedTimes::none(3), ReportedTimes::none(9)];
        times[0].add(1, Nanos(5));
        times[1].add(0, Nanos(0));
        let names = vec!["a,\"b\"".to_owned(), "db".to_owned()];
        let timing = ServerTiming { names: names.clone(), times: times.clone(), ..ServerTiming::default() };
        let mut written = Vec::new();
        write(&mut written, &timing).unwrap();
        assert_eq!(String::from_utf8_lossy(&written), "index,\"a,\"\"b\"\"\",db\n3,,5\n9,0,\n");
        assert_eq!(read(written.as_slice(), &names).unwrap(), times);
        for damaged in
            ["index,x\n", "index,a,b\n3,,5\n3,,5\n", "index,a,b\n3,,x\n", "index,a,b\n3,,18446744073709551615\n"]
        {
            let names = ["a", "b"].map(str::to_owned);
            assert!(read(damaged.as_bytes(), &names).is_err(), "{damaged}");
        }
    }
}
