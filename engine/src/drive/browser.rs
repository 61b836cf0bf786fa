//! The browser of the user, which gets one address and is not waited for.

use std::ffi::OsStr;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use orange_system::exec::{ProgramCall, find_on_path};

/// The programs of the system that open an address in the user's browser.
const OF_SYSTEM: [&str; 2] = ["xdg-open", "open"];

/// A program that ends with a failure does so within this time; one that is alive after it shows the address.
const PATIENCE: Duration = Duration::from_secs(2);

/// Opens an address in one of the programs of `BROWSER`, whose names are separated by colons, or in that of the system. The
/// program that did, if one could.
pub fn open(browser: Option<&str>, path: &OsStr, url: &str) -> Option<String> {
    let named = browser.into_iter().flat_map(|names| names.split(':'));
    let calls = named.chain(OF_SYSTEM).filter_map(|command| words(command, url));
    calls
        .filter(|(program, _)| find_on_path(program, path).is_some())
        .find(|(program, args)| starts(ProgramCall::new(program).args(args)))
        .map(|(program, _)| program)
}

/// The program and its arguments: `%s` stands for the address, which is the last word otherwise.
fn words(command: &str, url: &str) -> Option<(String, Vec<String>)> {
    let mut words = command.split_whitespace().map(str::to_owned);
    let program = words.next()?;
    let args: Vec<String> = words.collect();
    let mut given: Vec<String> = args.iter().map(|word| word.replace("%s", url)).collect();
    if given == args {
        given.push(url.to_owned());
    }
    Some((program, given))
}

fn starts(call: ProgramCall) -> bool {
    // Browsers complain of much, as long as they run.
    let Ok(mut child) = call.silent().held() else { return false };
    drop(child.stdin.take());
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Some(ended) = ended(&mut child) {
            return ended.success();
        }
        thread::sleep(Duration::from_millis(20));
    }
    true
}

fn ended(child: &mut Child) -> Option<ExitStatus> {
    child.try_wait().ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gets_the_address_where_it_wants_it() {
        let words = |command: &str| {
            let (program, args) = words(command, "https://x/1").unwrap();
            format!("{program} {}", args.join(" "))
        };
        assert_eq!(words("firefox --new-tab"), "firefox --new-tab https://x/1");
        assert_eq!(words("w3m -o url=%s"), "w3m -o url=https://x/1");
        assert_eq!(super::words("  ", "x"), None);
    }
}
