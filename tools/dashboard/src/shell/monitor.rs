//! `orange monitor`, which looks after the agents while the dashboard is open. One of several monitors acts; the others stand by.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::ShellNote;
use super::orange::OrangeProgram;
use crate::model::effect::Event;

/// Pause before one that has ended is started again; twice as long each time, where it ends soon.
const PAUSE: Duration = Duration::from_secs(2);

/// One that has worked for so long is not one that ends soon.
const LONG: Duration = Duration::from_secs(60);

/// The monitor that belongs to this dashboard. The program reads its own pipe, so that it ends with this process.
pub(super) struct MonitorProcess {
    child: Arc<Mutex<Option<Child>>>,
    is_over: Arc<AtomicBool>,
}

impl MonitorProcess {
    /// Starts it, and starts it again when it has ended.
    pub(super) fn start(orange: OrangeProgram, sender: Sender<ShellNote>) -> MonitorProcess {
        let (child, is_over) = (Arc::new(Mutex::new(None)), Arc::new(AtomicBool::new(false)));
        let monitor = MonitorProcess { child: child.clone(), is_over: is_over.clone() };
        thread::spawn(move || keep(&orange, &sender, &child, &is_over));
        monitor
    }

    pub(super) fn end(self) {
        self.is_over.store(true, Ordering::SeqCst);
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut child) = child {
            terminate(&child);
            child.wait().map(drop).unwrap_or_default();
        }
    }
}

fn terminate(child: &Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // It may have ended by itself.
    pid.map(|pid| kill_process(pid, Signal::TERM)).transpose().unwrap_or_default();
}

fn keep(
    orange: &OrangeProgram,
    sender: &Sender<ShellNote>,
    place: &Mutex<Option<Child>>,
    is_over: &AtomicBool,
) {
    let put = |child| std::mem::replace(&mut *place.lock().unwrap_or_else(PoisonError::into_inner), child);
    let (mut is_first, mut pause) = (true, PAUSE);
    while !is_over.load(Ordering::SeqCst) {
        let begin = Instant::now();
        let output = match orange.start(&["monitor".to_owned()]) {
            Ok(mut child) => {
                let output = child.stdout.take();
                put(Some(child));
                // An end that came meanwhile has found no child.
                if is_over.load(Ordering::SeqCst) {
                    put(None).iter().for_each(terminate);
                }
                output
            }
            Err(_) => None,
        };
        if let Some(output) = output {
            if !is_first {
                say(sender, false, "orange monitor runs again");
            }
            // Its pipe is read, so that it never waits for a reader.
            BufReader::new(output).lines().map_while(Result::ok).for_each(drop);
        }
        let ended = put(None).map(|mut child| child.wait());
        if is_over.load(Ordering::SeqCst) {
            return;
        }
        if is_first || ended.is_some() {
            let how = match ended {
                Some(Ok(status)) => format!("orange monitor has ended ({status}); it is started again"),
                Some(Err(cause)) => format!("orange monitor has ended ({cause}); it is started again"),
                None => "orange monitor cannot be started; it is tried again".to_owned(),
            };
            say(sender, true, how);
        }
        is_first = false;
        thread::sleep(pause);
        pause = if begin.elapsed() > LONG { PAUSE } else { (2 * pause).min(LONG) };
    }
}

fn say(sender: &Sender<ShellNote>, is_failure: bool, text: impl Into<String>) {
    // Without a receiver, nobody needs to know.
    sender.send(ShellNote::Event(Event::Said(is_failure, text.into()))).unwrap_or_default();
}
