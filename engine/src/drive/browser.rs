//! Opens an address in the user's browser, and does not wait for the browser to end.

use std::ffi::OsStr;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use orange_system::exec::{ProgramCall, find_on_path};

/// The programs of the system that open an address in the user's browser.
const OF_SYSTEM: [&str; 2] = ["xdg-open", "open"];

/// The time within which a program that fails has ended; a program that is alive after it shows the address.
const PATIENCE: Duration = Duration::from_secs(2);

/// Opens an address in a program of `BROWSER`, a list of commands separated by colons, or in one of the system. Returns the
/// program that opened it, if one did.
pub fn open(browser: Option<&str>, path: &OsStr, url: &str) -> Option<String> {
    let named = browser.into_iter().flat_map(|names| names.split(':'));
    let calls = named.chain(OF_SYSTEM).filter_map(|command| words(command, url));
    calls
        .filter(|(program, _)| find_on_path(program, path).is_some())
        .find(|(program, args)| starts(ProgramCall::new(program).args(args)))
        .map(|(program, _)| program)
}

/// The program and the arguments of a command. The address replaces `%s`, or is the last argument if there is no `%s`.
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
    // Browsers print many warnings, even when they work.
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
