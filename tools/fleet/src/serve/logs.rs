//! Logs: one JSON object a line on standard error, with the time, the level, what happened, and what is known of it.

use log::kv::{Key, Value, VisitSource};
use log::{LevelFilter, Log, Metadata, Record};
use serde_json::{Map, Value as Json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::lines;

/// Writes records to standard error.
struct LogLines;

/// Writes logs of this level and of more urgent ones from now on. A program that has a logger keeps it.
pub fn begin(level: LevelFilter) {
    if log::set_logger(&LogLines).is_ok() {
        log::set_max_level(level);
    }
}

impl Log for LogLines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Other packages say much that helps nobody who runs a gateway.
        metadata.target().starts_with("orange") || metadata.level() <= log::Level::Warn
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            lines::to_stderr(&line(record, OffsetDateTime::now_utc()));
        }
    }

    fn flush(&self) {}
}

fn line(record: &Record<'_>, now: OffsetDateTime) -> String {
    let mut fields = LogFields(Map::new());
    let mut set = |key: &str, value: String| fields.0.insert(key.to_owned(), Json::String(value));
    set("time", now.format(&Rfc3339).unwrap_or_default());
    set("level", record.level().as_str().to_ascii_lowercase());
    set("message", record.args().to_string());
    if !record.target().starts_with("orange_fleet") {
        set("from", record.target().to_owned());
    }
    record.key_values().visit(&mut fields).unwrap_or_default();
    Json::Object(fields.0).to_string()
}

struct LogFields(Map<String, Json>);

impl<'kvs> VisitSource<'kvs> for LogFields {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), log::kv::Error> {
        let json = match (value.to_u64(), value.to_i64(), value.to_bool()) {
            (Some(number), _, _) => Json::from(number),
            (None, Some(number), _) => Json::from(number),
            (None, None, Some(is)) => Json::from(is),
            (None, None, None) => value.to_f64().map_or_else(|| Json::from(value.to_string()), Json::from),
        };
        self.0.insert(key.as_str().to_owned(), json);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line_of_json() {
        let values: &[(&str, &str)] = &[("path", "/v1/\"x\"\n")];
        let record = Record::builder()
            .args(format_args!("a request\nwith lines"))
            .level(log::Level::Warn)
            .target("orange_fleet::serve")
            .key_values(&values)
            .build();
        let now = OffsetDateTime::from_unix_timestamp(1_795_651_200).unwrap();
        let expect = "{\"level\":\"warn\",\"message\":\"a request\\nwith lines\",\"path\":\"/v1/\\\"x\\\"\\n\",\"time\":\"2026-11-26T00:00:00Z\"}";
        assert_eq!(line(&record, now), expect);
    }
}
