//! Counters of the gateway, as Prometheus reads them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::host::StoreCounts;

/// The upper bounds of the buckets of durations, in milliseconds.
const BUCKETS: [u64; 9] = [1, 5, 10, 25, 50, 100, 500, 1000, 5000];

/// Counters of one gateway, from its start.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<(&'static str, String, u16), u64>>,
    durations: [AtomicU64; BUCKETS.len()],
    duration_micros: AtomicU64,
    answered: AtomicU64,
    refused: AtomicU64,
    events: Mutex<BTreeMap<&'static str, u64>>,
    open: AtomicI64,
    connected: AtomicI64,
    followers: AtomicI64,
}

/// Something that is counted while it lives.
#[derive(Debug)]
pub struct Counted<'m>(&'m AtomicI64);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    /// A request was answered. `route` is its path with the names of its ids.
    pub fn answered(&self, route: &'static str, method: &str, status: u16, took: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((route, method.to_owned(), status)).or_default() += 1;
        drop(requests);
        self.answered.fetch_add(1, Ordering::Relaxed);
        self.duration_micros
            .fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        for (bound, count) in BUCKETS.iter().zip(&self.durations) {
            if millis <= *bound {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// A request was refused by authentication.
    pub fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Something else has happened this often.
    pub fn count(&self, what: &'static str, times: u64) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        *events.entry(what).or_default() += times;
    }

    /// A request is being answered.
    pub fn request(&self) -> Counted<'_> {
        self.open.fetch_add(1, Ordering::Relaxed);
        Counted(&self.open)
    }

    /// Number of requests that are being answered.
    pub fn open_requests(&self) -> usize {
        usize::try_from(self.open.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// A crab is connected.
    pub fn crab(&self) -> Counted<'_> {
        self.connected.fetch_add(1, Ordering::Relaxed);
        Counted(&self.connected)
    }

    /// Somebody follows the records.
    pub fn follower(&self) -> Counted<'_> {
        self.followers.fetch_add(1, Ordering::Relaxed);
        Counted(&self.followers)
    }

    /// All of it, with the counts of the store.
    pub fn text(&self, counts: &StoreCounts, newest: u64) -> String {
        let mut page = MetricsPage(String::new());
        page.store(counts, newest);
        page.head("orange_fleet_http_requests_total", "counter", "Requests that were answered.");
        for ((route, method, status), count) in &*self.requests.lock().unwrap_or_else(PoisonError::into_inner)
        {
            page.line(
                "orange_fleet_http_requests_total",
                &[("route", route), ("method", method), ("status", &status.to_string())],
                *count,
            );
        }
        self.durations(&mut page);
        let load = |it: &AtomicI64| u64::try_from(it.load(Ordering::Relaxed)).unwrap_or(0);
        page.one(
            "orange_fleet_http_refused_total",
            "counter",
            "Requests without a good token, host or origin.",
            self.refused.load(Ordering::Relaxed),
        );
        page.one(
            "orange_fleet_http_requests_open",
            "gauge",
            "Requests that are being answered.",
            load(&self.open),
        );
        page.one(
            "orange_fleet_crabs_connected",
            "gauge",
            "Crabs that wait at this gateway.",
            load(&self.connected),
        );
        page.one(
            "orange_fleet_followers",
            "gauge",
            "Readers that follow the records.",
            load(&self.followers),
        );
        page.head("orange_fleet_events_total", "counter", "What else the gateway has done.");
        for (what, count) in &*self.events.lock().unwrap_or_else(PoisonError::into_inner) {
            page.line("orange_fleet_events_total", &[("what", what)], *count);
        }
        page.0
    }

    fn durations(&self, page: &mut MetricsPage) {
        const NAME: &str = "orange_fleet_http_request_duration_seconds";
        page.head(NAME, "histogram", "How long answers take.");
        for (bound, count) in BUCKETS.iter().zip(&self.durations) {
            let (whole, rest) = (bound / 1000, bound % 1000);
            let bound = format!("{whole}.{rest:03}");
            page.line(&format!("{NAME}_bucket"), &[("le", &bound)], count.load(Ordering::Relaxed));
        }
        let all = self.answered.load(Ordering::Relaxed);
        page.line(&format!("{NAME}_bucket"), &[("le", "+Inf")], all);
        let micros = self.duration_micros.load(Ordering::Relaxed);
        writeln!(page.0, "{NAME}_sum {}.{:06}", micros / 1_000_000, micros % 1_000_000).unwrap_or_default();
        page.line(&format!("{NAME}_count"), &[], all);
    }
}

struct MetricsPage(String);

impl MetricsPage {
    fn store(&mut self, counts: &StoreCounts, newest: u64) {
        self.head("orange_fleet_missions", "gauge", "Missions by status.");
        for (status, count) in &counts.missions {
            self.line("orange_fleet_missions", &[("status", status)], *count);
        }
        self.head("orange_fleet_crabs", "gauge", "Crabs that are known, idle, busy, or have a fault.");
        for (state, count) in ["known", "idle", "busy", "faulty"].into_iter().zip(counts.crabs) {
            self.line("orange_fleet_crabs", &[("state", state)], count);
        }
        self.one(
            "orange_fleet_missions_asking",
            "gauge",
            "Missions that run, and have a question of a step that waits for an answer.",
            counts.asking,
        );
        self.one("orange_fleet_steps_waiting", "gauge", "Steps that wait for a crab.", counts.waiting);
        self.one(
            "orange_fleet_alarms",
            "gauge",
            "Messages that were set aside because nobody understands them.",
            counts.alarms,
        );
        self.one("orange_fleet_records_total", "counter", "The number of the newest record.", newest);
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}").unwrap_or_default();
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.head(name, kind, help);
        self.line(name, &[], value);
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: u64) {
        let labels: Vec<String> =
            labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        writeln!(self.0, "{name}{labels} {value}").unwrap_or_default();
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_written_as_prometheus_reads_them() {
        let metrics = Metrics::default();
        metrics.answered("/v1/missions/{id}", "GET", 200, Duration::from_millis(7));
        metrics.count("sweep", 2);
        let crab = metrics.crab();
        let counts = StoreCounts {
            missions: vec![("running".to_owned(), 3)],
            crabs: [2, 1, 1, 0],
            waiting: 5,
            asking: 4,
            alarms: 0,
        };
        let text = metrics.text(&counts, 17);
        for line in [
            "orange_fleet_missions{status=\"running\"} 3",
            "orange_fleet_missions_asking 4",
            "orange_fleet_crabs{state=\"known\"} 2",
            "orange_fleet_http_requests_total{route=\"/v1/missions/{id}\",method=\"GET\",status=\"200\"} 1",
            "orange_fleet_http_request_duration_seconds_bucket{le=\"0.005\"} 0",
            "orange_fleet_http_request_duration_seconds_bucket{le=\"0.010\"} 1",
            "orange_fleet_http_request_duration_seconds_sum 0.007000",
            "orange_fleet_events_total{what=\"sweep\"} 2",
            "orange_fleet_crabs_connected 1",
            "orange_fleet_records_total 17",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
        drop(crab);
        assert!(metrics.text(&counts, 17).contains("\norange_fleet_crabs_connected 0\n"));
    }
}
