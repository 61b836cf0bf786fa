//! The style sheet, the scripts and the icon, each under an address that changes with it.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("console.css");
const SCRIPT: &str = include_str!("console.js");
const NEWS: &str = include_str!("news.js");
const ICON: &str = include_str!("icon.svg");

static STYLE_ADDRESS: LazyLock<String> = LazyLock::new(|| address("style.css", STYLE));
static SCRIPT_ADDRESS: LazyLock<String> = LazyLock::new(|| address("script.js", SCRIPT));
static NEWS_ADDRESS: LazyLock<String> = LazyLock::new(|| address("news.js", NEWS));

/// The address of the style sheet.
pub fn style_address() -> &'static str {
    &STYLE_ADDRESS
}

/// The address of the script.
pub fn script_address() -> &'static str {
    &SCRIPT_ADDRESS
}

/// The address of the script that brings news, for pages and their shared worker.
pub fn news_address() -> &'static str {
    &NEWS_ADDRESS
}

/// The style sheet.
pub async fn style() -> Response {
    served("text/css; charset=utf-8", STYLE)
}

pub async fn script() -> Response {
    served("text/javascript; charset=utf-8", SCRIPT)
}

/// The script that brings news.
pub async fn news() -> Response {
    served("text/javascript; charset=utf-8", NEWS)
}

pub async fn icon() -> Response {
    served("image/svg+xml", ICON)
}

fn served(kind: &'static str, text: &'static str) -> Response {
    let headers =
        [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")];
    (headers, text).into_response()
}

fn address(name: &str, text: &str) -> String {
    let digest = Sha256::digest(text);
    let short: String = digest.iter().take(6).map(|it| format!("{it:02x}")).collect();
    format!("/console/{name}?v={short}")
}
