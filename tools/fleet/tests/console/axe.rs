//! `axe-core` looks at every page, on a phone and on a desktop, in light and in dark colours.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libtest_mimic::{Completion, Trial};
use orange_testkit::npm::NpmPackages;
use serde_json::json;

use crate::browser::{Browser, DESKTOP, PHONE};
use crate::gateway::ConsoleGateway;
use crate::people::enter;
use crate::pictures::{fill, pages};
use crate::suite::{self, browser, with_browser};

const PACKAGE: &str = include_str!("package.json");
const LOCK: &str = include_str!("package-lock.json");

pub(crate) fn trials() -> Vec<Trial> {
    const NAME: &str = "axe_finds_nothing";
    let trial = Trial::ignorable_test(NAME, || match axe() {
        Ok(_) if crate::driver::get().is_ok() => {
            finds_nothing();
            Ok(Completion::Completed)
        }
        Ok(_) => Ok(suite::skip(NAME, "there is no browser")),
        Err(why) => Ok(suite::skip(NAME, why)),
    });
    vec![
        trial,
        with_browser("no_page_is_wider_than_its_screen", is_not_too_wide),
        with_browser("a_wide_plan_is_scrolled_on_a_phone", is_scrolled),
    ]
}

fn finds_nothing() {
    let gateway = ConsoleGateway::start();
    let ids = fill(&gateway);
    let browser = browser();
    browser.go(&gateway.at("/console/login"));
    look(&browser, "login");
    enter(&browser, &gateway, "/console");
    for (name, page) in pages(&ids) {
        browser.go(&gateway.at(&page));
        for size in [PHONE, DESKTOP] {
            browser.resize(size);
            for colours in ["light", "dark"] {
                browser.colours(colours);
                look(&browser, &format!("{name} {size:?} {colours}"));
            }
        }
    }
}

/// Everything that can be opened is open, so that it is looked at, too.
fn look(browser: &Browser, page: &str) {
    browser.script("document.querySelectorAll('details').forEach((it) => { it.open = true })");
    browser.script(axe().as_ref().unwrap());
    let found = browser.script_later(
        "const done = arguments[arguments.length - 1];
         axe.run(document, { resultTypes: ['violations'] }).then((it) => done(it.violations.map((one) =>
           `${one.id}: ${one.help}: ${one.nodes.map((node) => node.html + ' ' + node.failureSummary).slice(0, 3).join(' | ')}`)))",
    );
    assert_eq!(found, serde_json::json!([]), "{page}");
}

fn is_not_too_wide() {
    let gateway = ConsoleGateway::start();
    let ids = fill(&gateway);
    let browser = browser();
    enter(&browser, &gateway, "/console");
    for (name, page) in pages(&ids) {
        browser.go(&gateway.at(&page));
        for size in [(320, 600), PHONE, (768, 1024), DESKTOP] {
            browser.resize(size);
            let more = browser.script("return document.documentElement.scrollWidth - window.innerWidth");
            assert!(more.as_i64().unwrap() <= 0, "{name} is {more} pixels too wide for {size:?}");
        }
        let complaints: Vec<String> =
            browser.complaints().into_iter().filter(|it| !it.contains("404")).collect();
        assert_eq!(complaints, Vec::<String>::new(), "{name}");
    }
}

/// The script, which npm installs once below the folder of builds.
fn axe() -> &'static Result<String, String> {
    static AXE: OnceLock<Result<String, String>> = OnceLock::new();
    AXE.get_or_init(|| {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let target: PathBuf = program.ancestors().nth(3).map(Path::to_path_buf).unwrap_or_default();
        let packages = NpmPackages { package: PACKAGE, lock: Some(LOCK), runs_scripts: false };
        let folder = packages.installed_below(&target.join("console-tests"))?;
        let installed = folder.join("node_modules/axe-core/axe.min.js");
        fs::read_to_string(&installed).map_err(|error| format!("{}: {error}", installed.display()))
    })
}

/// No workflow that ships has a plan so wide, so the picture of one gets its size.
fn is_scrolled() {
    let gateway = ConsoleGateway::start();
    let id = fill(&gateway).remove(0);
    let browser = browser();
    enter(&browser, &gateway, &format!("/console/missions/{id}"));
    browser.resize(PHONE);
    let widths = "const plan = document.querySelector('.plan'); plan.classList.add('wide'); \
                  plan.setAttribute('width', 1500); \
                  const scroll = document.querySelector('#picture-scroll'); scroll.scrollLeft = 9999; \
                  return [plan.getBoundingClientRect().width, scroll.scrollLeft > 1000, \
                  document.documentElement.scrollWidth <= innerWidth]";
    assert_eq!(browser.script(widths), json!([1500, true, true]));
}
