//! `scrapes.csv`: counters and gauges of services over the run, a row for each value, as it was published. The rows are
//! in the order of services, series and time. The file exists only if a counter or gauge changed.

use std::collections::HashSet;
use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use super::LineError;
use crate::limits::LONGEST_NS;
use crate::{MAX_SERVICE_POINTS, MAX_SERVICE_SERIES, Scrape, ServiceSeries};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Row {
    /// Name of the service.
    service: String,
    /// Name and labels of the series.
    series: String,
    kind: Kind,
    /// True if it is drawn.
    lane: bool,
    /// Time since the origin of the run.
    at_ns: u64,
    value: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Counter,
    Gauge,
}

pub(super) fn write(out: impl Write, scrapes: &[Scrape]) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    for scrape in scrapes {
        for series in &scrape.series {
            let kind = if series.is_counter { Kind::Counter } else { Kind::Gauge };
            for (at_ns, value) in &series.points {
                csv.serialize(Row {
                    service: scrape.name.clone(),
                    series: series.name.clone(),
                    kind,
                    lane: series.is_lane,
                    at_ns: *at_ns,
                    value: *value,
                })?;
            }
        }
    }
    csv.flush()
}

/// Reads the series into the services of these names.
pub(super) fn read(input: impl Read, scrapes: &mut [Scrape]) -> Result<(), LineError> {
    let mut csv = csv::Reader::from_reader(input);
    let mut known = HashSet::new();
    for (row, line) in csv.deserialize().zip(2u64..) {
        let row: Row = row.map_err(LineError::from_csv)?;
        let wrong = |problem: String| LineError { line, problem };
        if row.at_ns > LONGEST_NS || !row.value.is_finite() {
            return Err(wrong("its time or its value is impossible".to_owned()));
        }
        let service = scrapes.iter_mut().find(|scrape| scrape.name == row.service);
        let service = service.ok_or_else(|| wrong(format!("run.json has no service {:?}", row.service)))?;
        let is_next = service.series.last().is_none_or(|last| last.name != row.series);
        if is_next {
            if !known.insert((row.service.clone(), row.series.clone())) {
                return Err(wrong(format!("the rows of {:?} are not together", row.series)));
            }
            service.series.push(ServiceSeries {
                name: row.series.clone(),
                is_counter: row.kind == Kind::Counter,
                is_lane: row.lane,
                points: Vec::new(),
            });
        }
        let count = service.series.len();
        let Some(series) = service.series.last_mut().filter(|_| count <= MAX_SERVICE_SERIES) else {
            return Err(wrong(format!("a service has more than {MAX_SERVICE_SERIES} series")));
        };
        if series.points.len() == MAX_SERVICE_POINTS {
            return Err(wrong(format!("a series has more than {MAX_SERVICE_POINTS} values")));
        }
        if series.points.last().is_some_and(|(last, _)| *last >= row.at_ns) {
            return Err(wrong("its time does not follow the one before".to_owned()));
        }
        series.points.push((row.at_ns, row.value));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(name: &str, series: Vec<ServiceSeries>) -> Scrape {
        Scrape { name: name.to_owned(), series, ..Scrape::default() }
    }

    #[test]
    fn series_are_read_as_they_were_written() {
        let series = |name: &str, is_counter| ServiceSeries {
            name: name.to_owned(),
            is_counter,
            is_lane: !is_counter,
            points: vec![(0, 0.1), (1_000_000_000, 1e300)],
        };
        let written = vec![
            service("app", vec![series("a{b=\"c,d\"}", true), series("e", false)]),
            service("none", Vec::new()),
            service("db", vec![series("e", false)]),
        ];
        let mut bytes = Vec::new();
        write(&mut bytes, &written).unwrap();
        let mut read_again: Vec<Scrape> = written.iter().map(|scrape| service(&scrape.name, Vec::new())).collect();
        read(bytes.as_slice(), &mut read_again).unwrap();
        assert_eq!(read_again, written);
    }

    #[test]
    fn damaged_rows_are_refused() {
        let head = "service,series,kind,lane,at_ns,value\n";
        for (rows, says) in [
            ("other,a,gauge,true,1,1", "no service"),
            ("app,a,gauge,true,1,NaN", "impossible"),
            ("app,a,gauge,true,1,1\napp,a,gauge,true,1,2", "does not follow"),
            ("app,a,gauge,true,1,1\napp,b,gauge,true,1,1\napp,a,gauge,true,2,1", "not together"),
            ("app,a,sum,true,1,1", "variant"),
        ] {
            let error = read(format!("{head}{rows}\n").as_bytes(), &mut [service("app", Vec::new())]).unwrap_err();
            assert!(error.problem.contains(says), "{rows}: {}", error.problem);
        }
    }
}
