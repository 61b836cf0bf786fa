//! Traces for OpenTelemetry: a span for each request, for each attempt that a crab reports, and for each mission that ends.
//!
//! The ids of missions and attempts are made from their names, so that the spans of several gateways, and of one that was started again,
//! are one trace.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanData, SpanEvents, SpanLinks, SpanProcessor};
use orange_api::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};

use crate::host::{AttemptRow, Millis, StoredMission};

/// Time limit for one message to the collector.
const PATIENCE: Duration = Duration::from_secs(10);

/// The length of a header `traceparent` of version 0.
const LENGTH: usize = 55;

/// Path at which collectors take spans.
const PATH: &str = "/v1/traces";

/// Destination of spans, if there is one. A collector that is away or slow delays nothing: spans that find no room are dropped.
#[derive(Clone, Debug)]
pub struct Traces(Option<Arc<BatchSpanProcessor>>);

/// A request that was answered.
#[derive(Debug)]
pub struct AnsweredRequest<'a> {
    pub method: &'a Method,
    /// Its path with the names of its ids, if there is such a route.
    pub route: Option<&'static str>,
    /// The span of the caller.
    pub parent: Option<(TraceId, SpanId)>,
    /// The status of the answer.
    pub status: StatusCode,
    /// Start of the request.
    pub began: SystemTime,
}

/// End of an attempt.
#[derive(Clone, Debug)]
pub struct TracedEnd {
    /// Its result, a word.
    pub result: String,
    /// It has failed.
    pub has_failed: bool,
}

impl Traces {
    /// Sends spans to the collector at this address, or none.
    ///
    /// # Errors
    /// `usage` when the address is none of HTTP.
    pub fn to(address: Option<&str>) -> Result<Traces> {
        let Some(address) = address else { return Ok(Traces(None)) };
        let unusable = |cause: String| {
            Error::new(ErrorKind::Usage, format!("`{address}` is not an address of a collector: {cause}"))
                .help("give one like http://127.0.0.1:4318, where a collector takes OTLP over HTTP")
        };
        let uri: Uri =
            address.parse().map_err(|cause: axum::http::uri::InvalidUri| unusable(cause.to_string()))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(unusable("it begins neither with http:// nor with https://".to_owned()));
        }
        let endpoint = match uri.path() {
            "" | "/" => format!("{}{PATH}", address.trim_end_matches('/')),
            _ => address.to_owned(),
        };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(CollectorClient::new())
            .with_endpoint(endpoint);
        let exporter = exporter.build().map_err(|cause| unusable(cause.to_string()))?;
        let mut processor = BatchSpanProcessor::builder(exporter).build();
        processor.set_resource(&Resource::builder().with_service_name("orange-fleet").build());
        Ok(Traces(Some(Arc::new(processor))))
    }

    /// True if spans are sent anywhere.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// A request was answered now.
    pub fn request(&self, answered: &AnsweredRequest<'_>) {
        let Some(processor) = &self.0 else { return };
        let Ok(bytes) = orange_system::random::bytes::<24>() else { return };
        let (trace, span) = ids(&bytes);
        let (trace, parent) = answered.parent.map_or((trace, SpanId::INVALID), |(trace, span)| (trace, span));
        let route = answered.route.unwrap_or("other");
        let is_broken = answered.status.is_server_error();
        let mut data = span_data(trace, span, parent, format!("{} {route}", answered.method));
        data.span_kind = SpanKind::Server;
        data.parent_span_is_remote = answered.parent.is_some();
        data.status = if is_broken { Status::error("") } else { Status::Unset };
        data.start_time = answered.began;
        data.end_time = SystemTime::now();
        data.attributes = vec![
            KeyValue::new("http.request.method", answered.method.as_str().to_owned()),
            KeyValue::new("http.route", route),
            KeyValue::new("http.response.status_code", i64::from(answered.status.as_u16())),
        ];
        processor.on_end(data);
    }

    /// An attempt has ended, since its crab has reported.
    pub fn attempt(&self, stored: &StoredMission, row: &AttemptRow, end: &TracedEnd) {
        let (Some(processor), Some(ended)) = (&self.0, row.ended) else { return };
        let id = &stored.row.id;
        let (trace, mission) = ids(&Sha256::digest(id));
        let (_, span) = ids(&Sha256::digest(format!("{id}.{}.{}", row.step, row.attempt)));
        let mut data = span_data(trace, span, mission, format!("step {}", row.step));
        data.start_time = at(row.offered.or(row.started).unwrap_or(row.queued));
        data.end_time = at(ended);
        data.status = if end.has_failed { Status::error("the step has failed") } else { Status::Unset };
        data.attributes = vec![
            KeyValue::new("orange.step", row.step.clone()),
            KeyValue::new("orange.attempt", i64::from(row.attempt)),
            KeyValue::new("orange.crab", row.crab.clone().unwrap_or_default()),
            KeyValue::new("orange.result", end.result.clone()),
            KeyValue::new("orange.waited_ms", row.offered.unwrap_or(ended).saturating_sub(row.queued)),
        ];
        processor.on_end(data);
    }

    /// A mission has ended.
    pub fn mission(&self, stored: &StoredMission) {
        let Some(processor) = &self.0 else { return };
        let row = &stored.row;
        let (trace, span) = ids(&Sha256::digest(&row.id));
        let mut data = span_data(trace, span, SpanId::INVALID, format!("mission {}", row.workflow));
        data.start_time = at(row.created);
        data.end_time = at(row.updated);
        data.status =
            if row.status == "failed" { Status::error("the mission has failed") } else { Status::Unset };
        data.attributes = vec![
            KeyValue::new("orange.mission", row.id.clone()),
            KeyValue::new("orange.workflow", row.workflow.clone()),
            KeyValue::new("orange.colony", row.colony.clone()),
            KeyValue::new("orange.branch", row.branch.clone()),
            KeyValue::new("orange.status", row.status.clone()),
        ];
        processor.on_end(data);
    }

    /// Sends what has not been sent. It waits for the collector, but not long.
    pub fn finish(&self) {
        if let Some(Err(cause)) = self.0.as_ref().map(|it| it.shutdown_with_timeout(PATIENCE)) {
            log::warn!(why = cause.to_string().as_str(); "some spans were not sent");
        }
    }
}

/// The span of a caller, by the header `traceparent` of <https://www.w3.org/TR/trace-context/>.
pub fn parent(headers: &HeaderMap) -> Option<(TraceId, SpanId)> {
    let header = headers.get("traceparent")?.to_str().ok()?;
    let [version, trace, span, _] = header.split('-').collect::<Vec<_>>()[..] else { return None };
    let (trace, span) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?);
    let is_known =
        version == "00" && header.len() == LENGTH && trace != TraceId::INVALID && span != SpanId::INVALID;
    is_known.then_some((trace, span))
}

/// The ids of a trace and a span, made from at least 24 bytes.
fn ids(bytes: &[u8]) -> (TraceId, SpanId) {
    let (mut trace, mut span) = ([0; 16], [0; 8]);
    trace.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    span.iter_mut().zip(bytes.iter().skip(16)).for_each(|(to, from)| *to = *from);
    (TraceId::from_bytes(trace), SpanId::from_bytes(span))
}

fn span_data(trace: TraceId, span: SpanId, parent: SpanId, name: String) -> SpanData {
    SpanData {
        span_context: SpanContext::new(trace, span, TraceFlags::SAMPLED, false, TraceState::NONE),
        parent_span_id: parent,
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: Cow::Owned(name),
        start_time: UNIX_EPOCH,
        end_time: UNIX_EPOCH,
        attributes: Vec::new(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::builder("orange-fleet").build(),
    }
}

fn at(time: Millis) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(time).unwrap_or(0))
}

/// Carries messages to the collector, on the thread of the processor.
#[derive(Debug)]
struct CollectorClient(ureq::Agent);

impl CollectorClient {
    fn new() -> CollectorClient {
        let config = ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).http_status_as_error(false);
        CollectorClient(config.build().into())
    }
}

impl HttpClient for CollectorClient {
    fn send_bytes<'c, 'f>(
        &'c self,
        request: Request<Bytes>,
    ) -> std::pin::Pin<Box<dyn Future<Output = std::result::Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        'c: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let sent = self.0.run(request.map(|body| body.to_vec()));
            let mut answer = sent.inspect_err(|cause| {
                log::warn!(why = cause.to_string().as_str(); "the collector of traces takes no spans");
            })?;
            let body = answer.body_mut().read_to_vec()?;
            Ok(answer.map(|_| Bytes::from(body)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_of_a_caller_is_known_by_its_header() {
        let parsed = |text: &str| {
            let headers =
                [("traceparent", text)].map(|(name, text)| (name.parse().unwrap(), text.parse().unwrap()));
            parent(&HeaderMap::from_iter(headers)).map(|(trace, span)| format!("{trace} {span}"))
        };
        let (trace, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
        assert_eq!(parsed(&format!("00-{trace}-{span}-01")), Some(format!("{trace} {span}")));
        for wrong in [
            String::new(),
            "00-1-2-01".to_owned(),
            format!("ff-{trace}-{span}-01"),
            format!("00-{}-{span}-01", "0".repeat(32)),
            format!("00-{trace}-{span}"),
        ] {
            assert_eq!(parsed(&wrong), None, "{wrong}");
        }
        assert_eq!(parent(&HeaderMap::new()), None);
    }

    #[test]
    fn an_address_that_is_none_is_refused() {
        for wrong in ["", "localhost:4318", "ftp://localhost", "http://"] {
            assert_eq!(Traces::to(Some(wrong)).unwrap_err().kind, ErrorKind::Usage, "{wrong}");
        }
        assert!(Traces::to(Some("http://127.0.0.1:4318")).unwrap().is_on());
        assert!(!Traces::to(None).unwrap().is_on());
    }
}
