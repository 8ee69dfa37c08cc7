use truetail_engine::FeedOrder;
use truetail_model::random::mix64;

use crate::parse::typed;
use crate::scope::VariableId;
use crate::value::Value;

/// Rows of data for the sessions of a flow. Each session begins with the values of one row.
#[derive(Clone, Debug)]
pub struct SessionRows {
    /// The variables that a row sets.
    pub columns: Vec<String>,
    /// The values of each row, in the order of `columns`. At least one row.
    pub values: Vec<Vec<String>>,
    /// Order in which sessions get the rows.
    pub order: FeedOrder,
    /// Seed of a random order.
    pub seed: u64,
}

impl SessionRows {
    /// Returns the row of session `number`.
    pub fn row_of(&self, number: u64) -> &[String] {
        &self.values[self.order.row_of_session(number, self.values.len() as u32, self.seed) as usize]
    }
}

/// Rows with the variable numbers of a flow.
#[derive(Clone, Debug)]
pub(crate) struct RowTable {
    pub(crate) variables: Vec<VariableId>,
    rows: Vec<Vec<Value>>,
    pub(crate) order: FeedOrder,
    pub(crate) seed: u64,
}

impl RowTable {
    /// Selects the columns that a flow with these variable `names` uses.
    pub(crate) fn for_variables(rows: &SessionRows, names: &[String]) -> RowTable {
        let used: Vec<(usize, VariableId)> = rows
            .columns
            .iter()
            .enumerate()
            .filter_map(|(at, column)| Some((at, names.iter().position(|name| name == column)?)))
            .collect();
        let values = |row: &Vec<String>| used.iter().map(|(at, _)| value(&row[*at])).collect();
        RowTable {
            variables: used.iter().map(|(_, variable)| *variable).collect(),
            rows: rows.values.iter().map(values).collect(),
            order: rows.order,
            seed: rows.seed,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Iterates over all values.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.rows.iter().flatten()
    }

    /// Returns the row of session `number`.
    pub(crate) fn row_of(&self, number: u64) -> usize {
        self.order.row_of_session(number, self.rows.len() as u32, self.seed) as usize
    }

    /// Puts the values of a row into the values of a session.
    pub(crate) fn fill(&self, row: usize, values: &mut [Option<Value>]) {
        for (variable, value) in self.variables.iter().zip(&self.rows[row]) {
            values[*variable] = Some(value.clone());
        }
    }

    /// Returns a hash that identifies these rows.
    pub(crate) fn hash(&self) -> u64 {
        let words = self.rows.iter().flatten().filter_map(|value| value.rendered());
        words.fold(self.rows.len() as u64, |hash, word| {
            word.bytes().fold(mix64(hash ^ word.len() as u64), |hash, byte| mix64(hash ^ u64::from(byte)))
        })
    }
}

/// Types a value like Hurl if that keeps its text: `007` stays a text.
fn value(text: &str) -> Value {
    let value = typed(text);
    if value.rendered().is_some_and(|rendered| rendered == text) { value } else { Value::text(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(order: FeedOrder) -> RowTable {
        let row = |n: usize| vec![format!("00{n}"), format!("{n}"), "unused".to_owned()];
        let columns = ["user", "id", "other"].map(str::to_owned).to_vec();
        let rows = SessionRows { columns, values: (0..10).map(row).collect(), order, seed: 1 };
        RowTable::for_variables(&rows, &["id".to_owned(), "host".to_owned(), "user".to_owned()])
    }

    #[test]
    fn a_row_sets_variables_and_keeps_its_texts() {
        let mut values = vec![None, Some(Value::text("h")), None];
        table(FeedOrder::InOrder).fill(7, &mut values);
        assert_eq!(values, [Some(Value::integer(7)), Some(Value::text("h")), Some(Value::text("007"))]);
    }

    #[test]
    fn rows_are_used_in_order_or_drawn() {
        let in_order = table(FeedOrder::InOrder);
        let random = table(FeedOrder::Random);
        let values = |order| SessionRows {
            columns: vec!["id".to_owned()],
            values: (0..10).map(|n| vec![n.to_string()]).collect(),
            order,
            seed: 1,
        };
        for number in 0..100 {
            assert_eq!(values(FeedOrder::Random).row_of(number), [random.row_of(number).to_string()]);
            assert_eq!(values(FeedOrder::InOrder).row_of(number), [in_order.row_of(number).to_string()]);
        }
        assert_eq!([0, 9, 10, 25].map(|number| in_order.row_of(number)), [0, 9, 0, 5]);
        let mut counts = [0; 10];
        (0..10_000).for_each(|number| counts[random.row_of(number)] += 1);
        // Five standard deviations of 30 each.
        assert!(counts.iter().all(|count| (850..=1150).contains(count)), "{counts:?}");
        assert_ne!(table(FeedOrder::InOrder).hash(), RowTable { rows: Vec::new(), ..in_order }.hash());
    }
}
