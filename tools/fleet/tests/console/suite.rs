//! The tests that need a browser, and the number of those that were skipped for want of one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use libtest_mimic::{Completion, Failed, Trial};

use crate::browser::Browser;
use crate::driver;

static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// Number of tests that were skipped.
pub(crate) fn skipped() -> usize {
    SKIPPED.load(Ordering::Relaxed)
}

/// A test that needs nothing but this program.
pub(crate) fn plain(name: &'static str, test: fn()) -> Trial {
    Trial::test(name, move || outcome(test).map(drop))
}

/// A test that opens browsers.
pub(crate) fn with_browser(name: &'static str, test: fn()) -> Trial {
    Trial::ignorable_test(name, move || match driver::get() {
        Ok(_) => outcome(test),
        Err(why) => Ok(skip(name, &why)),
    })
}

/// Says that a test is skipped, past everything that catches the output of tests.
pub(crate) fn skip(name: &str, why: &str) -> Completion {
    SKIPPED.fetch_add(1, Ordering::Relaxed);
    eprintln!("SKIPPED: {name}: {why}");
    Completion::ignored_with(why.to_owned())
}

/// A browser; the caller runs only where there is one.
pub(crate) fn browser() -> Browser {
    Browser::open(driver::get().unwrap())
}

fn outcome(test: fn()) -> Result<Completion, Failed> {
    catch_unwind(AssertUnwindSafe(test)).map(|()| Completion::Completed).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()));
        Failed::from(text.unwrap_or_else(|| "it panicked".to_owned()))
    })
}
