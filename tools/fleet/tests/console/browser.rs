//! A browser: <https://www.w3.org/TR/webdriver2/> over HTTP.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::Agent;

use crate::driver::ChromeDriver;

/// Time limit for a condition to hold, after which a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time between two looks at a condition.
const LOOK: Duration = Duration::from_millis(50);

const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// The width of a phone, and of a desktop.
pub(crate) const PHONE: (u32, u32) = (390, 844);
pub(crate) const DESKTOP: (u32, u32) = (1280, 900);

/// A browser with a profile of its own.
pub(crate) struct Browser {
    agent: Agent,
    session: String,
    _profile: TempDir,
}

/// A tab of a browser.
pub(crate) struct BrowserTab(String);

impl Browser {
    /// A browser of the width of a phone, in light colours.
    pub(crate) fn open(driver: &ChromeDriver) -> Browser {
        let profile = tempfile::tempdir().unwrap();
        let data = format!("--user-data-dir={}", profile.path().display());
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            &data,
        ];
        let options = json!({ "binary": driver.chromium, "args": arguments });
        let wanted = json!({
            "acceptInsecureCerts": true,
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL" },
            "unhandledPromptBehavior": "ignore",
            "timeouts": { "pageLoad": PATIENCE.as_millis() as u64 },
        });
        let agent: Agent = Agent::config_builder().http_status_as_error(false).build().into();
        let mut browser =
            Browser { agent, session: format!("{}/session", driver.address), _profile: profile };
        let answer = browser.post("", json!({ "capabilities": { "alwaysMatch": wanted } }));
        browser.session = format!("{}/{}", browser.session, answer["sessionId"].as_str().unwrap());
        browser.resize(PHONE);
        browser
    }

    /// Loads a page.
    #[track_caller]
    pub(crate) fn go(&self, address: &str) {
        self.post("/url", json!({ "url": address }));
    }

    /// Goes back, as the button of the browser does.
    pub(crate) fn back(&self) {
        self.post("/back", json!({}));
    }

    /// Opens a tab, and turns to it.
    pub(crate) fn new_tab(&self) -> BrowserTab {
        let made = self.post("/window/new", json!({ "type": "tab" }));
        let tab = BrowserTab(made["handle"].as_str().unwrap().to_owned());
        self.turn_to(&tab);
        tab
    }

    /// Turns to a tab: what is asked from now on is asked of it.
    pub(crate) fn turn_to(&self, tab: &BrowserTab) {
        self.post("/window", json!({ "handle": tab.0 }));
    }

    /// Runs a script on every page from now on, before those of the page.
    pub(crate) fn before_scripts(&self, script: &str) {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script }));
    }

    /// Ends the shared workers of its pages, and says how many there were.
    pub(crate) fn end_shared_workers(&self) -> usize {
        let targets = self.devtools("Target.getTargets", json!({ "filter": [{ "type": "shared_worker" }] }));
        let targets = targets["targetInfos"].as_array().cloned().unwrap_or_default();
        for target in &targets {
            self.devtools("Target.closeTarget", json!({ "targetId": target["targetId"] }));
        }
        targets.len()
    }

    pub(crate) fn address(&self) -> String {
        self.get("/url").as_str().unwrap().to_owned()
    }

    /// The title of the document in the browser.
    pub(crate) fn title(&self) -> String {
        self.get("/title").as_str().unwrap().to_owned()
    }

    /// Clicks an element.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        let element = self.find(selector);
        self.post(&format!("/element/{element}/click"), json!({}));
    }

    /// Types into an element.
    #[track_caller]
    pub(crate) fn write(&self, selector: &str, text: &str) {
        let element = self.find(selector);
        self.post(&format!("/element/{element}/value"), json!({ "text": text }));
    }

    /// Presses a key wherever the focus is.
    pub(crate) fn press(&self, key: char) {
        let keys = json!([{ "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }]);
        self.post("/actions", json!({ "actions": [{ "type": "key", "id": "keys", "actions": keys }] }));
    }

    /// Text that an element shows.
    #[track_caller]
    pub(crate) fn text(&self, selector: &str) -> String {
        let element = self.find(selector);
        self.get(&format!("/element/{element}/text")).as_str().unwrap().to_owned()
    }

    /// True if there is such an element.
    pub(crate) fn has(&self, selector: &str) -> bool {
        let found = self.post("/elements", json!({ "using": "css selector", "value": selector }));
        found.as_array().is_some_and(|it| !it.is_empty())
    }

    /// Value that a script returns.
    #[track_caller]
    pub(crate) fn script(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({ "script": script, "args": [] }))
    }

    /// Value that a script hands to its callback, its last argument.
    #[track_caller]
    pub(crate) fn script_later(&self, script: &str) -> Value {
        self.post("/execute/async", json!({ "script": script, "args": [] }))
    }

    /// Waits until an element shows this text.
    #[track_caller]
    pub(crate) fn wait_for(&self, selector: &str, text: &str) {
        self.wait(&format!("{selector} shows {text:?}"), || {
            let script = format!(
                "return [...document.querySelectorAll({})].map((it) => it.textContent).join('\\n')",
                json!(selector)
            );
            let shown = self.script(&script);
            let shown = shown.as_str().unwrap_or_default().to_owned();
            if shown.contains(text) { Ok(()) } else { Err(shown) }
        });
    }

    /// Waits until it is at an address.
    #[track_caller]
    pub(crate) fn wait_at(&self, address: &str) {
        self.wait(&format!("it is at {address}"), || match self.address() {
            there if there == address => Ok(()),
            elsewhere => Err(elsewhere),
        });
    }

    /// Waits until a condition holds; it says what there is instead.
    #[track_caller]
    pub(crate) fn wait(&self, what: &str, mut holds: impl FnMut() -> Result<(), String>) {
        let start = Instant::now();
        loop {
            match holds() {
                Ok(()) => return,
                Err(instead) if start.elapsed() > PATIENCE => {
                    panic!("waited in vain until {what}; instead: {instead}\nat {}", self.address())
                }
                Err(_) => std::thread::sleep(LOOK),
            }
        }
    }

    /// The size of what is shown.
    pub(crate) fn resize(&self, (width, height): (u32, u32)) {
        let is_phone = width < 600;
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone }),
        );
    }

    /// Light or dark colours.
    pub(crate) fn colours(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Runs no script of pages from now on.
    pub(crate) fn without_scripts(&self) {
        self.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    }

    /// A picture of the whole page.
    pub(crate) fn picture(&self, file: &Path) {
        let shown = self.devtools("Page.captureScreenshot", json!({ "captureBeyondViewport": true }));
        std::fs::write(file, decoded(shown["data"].as_str().unwrap())).unwrap();
    }

    /// The complaints of the browser since it was last asked.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let entries = self.post("/se/log", json!({ "type": "browser" }));
        let entries = entries.as_array().cloned().unwrap_or_default();
        entries.iter().map(|it| it["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// An element, as soon as there is one.
    #[track_caller]
    fn find(&self, selector: &str) -> String {
        let mut element = String::new();
        self.wait(&format!("there is {selector}"), || {
            let found = self.post("/elements", json!({ "using": "css selector", "value": selector }));
            let first = found[0][ELEMENT].as_str().ok_or("nothing like it")?;
            first.clone_into(&mut element);
            Ok(())
        });
        element
    }

    fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.post("/goog/cdp/execute", json!({ "cmd": command, "params": parameters }))
    }

    #[track_caller]
    fn get(&self, path: &str) -> Value {
        let answer = self.agent.get(format!("{}{path}", self.session)).call().unwrap();
        value(answer, path)
    }

    #[track_caller]
    fn post(&self, path: &str, body: Value) -> Value {
        let answer = self.agent.post(format!("{}{path}", self.session)).send_json(body).unwrap();
        value(answer, path)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A browser that is gone already is what this asks for.
        self.agent.delete(&self.session).call().ok();
    }
}

#[track_caller]
fn value(mut answer: ureq::http::Response<ureq::Body>, path: &str) -> Value {
    let status = answer.status();
    let mut read: Value = answer.body_mut().with_config().limit(64 << 20).read_json().unwrap();
    let value = read["value"].take();
    assert!(status.is_success(), "{path}: {} {}", value["error"], value["message"]);
    value
}

/// The bytes of a text in base 64.
fn decoded(text: &str) -> Vec<u8> {
    let digit = |it: u8| match it {
        b'A'..=b'Z' => it - b'A',
        b'a'..=b'z' => it - b'a' + 26,
        b'0'..=b'9' => it - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|it| *it != b'=').map(digit).collect();
    let triple = |four: &[u8]| {
        let bits = four.iter().fold(0_u32, |bits, it| bits << 6 | u32::from(*it)) << (6 * (4 - four.len()));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(triple).collect()
}
